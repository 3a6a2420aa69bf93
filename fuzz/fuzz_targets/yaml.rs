//! Whatever the file, each document is read or has a problem with a place; what is printed reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sundown::yaml::{Documents, to_string};

fuzz_target!(|text: &[u8]| {
    let lines = text.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    for document in Documents::new(text) {
        match document {
            Ok(document) => {
                let json = document.root.to_json();
                let printed = to_string(&json);
                let again = Documents::new(printed.as_bytes()).next().map(|read| read.map(|d| d.root.to_json()));
                assert_eq!(again, Some(Ok(json)), "{printed}");
            }
            Err(problem) => assert!((1..=lines).contains(&(problem.location.line as usize)), "{problem}"),
        }
    }
});
