//! Where everything is read, our deserializer and serde_json read the same or both refuse.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let ours = sundown::json::from_slice::<Value>(bytes);
    let theirs = serde_json::from_slice::<Value>(bytes);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("ours {ours:?}, theirs {theirs:?}"),
    }
});
