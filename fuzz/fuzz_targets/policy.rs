//! Whatever the file, a policy loads or every error has a place in it and a mend.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sundown::policy::{Level, Source, load};
use sundown::rules::catalogue;

fuzz_target!(|text: &[u8]| {
    let source = Source { name: "p".into(), text: text.to_vec() };
    match load(&[source], &catalogue()) {
        Ok((policies, _)) => {
            for policy in policies.policies() {
                assert!(policy.windows.seconds(0) >= 0 && !policy.name.is_empty());
            }
        }
        Err(errors) => {
            assert!(errors.0.iter().any(|diagnostic| diagnostic.level == Level::Error));
            assert!(errors.0.iter().all(|diagnostic| diagnostic.line > 0 && !diagnostic.message.is_empty()));
        }
    }
});
