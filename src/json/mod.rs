//! JSON that is read only where a rule looks: a serde deserializer over a slice that skips everything else at
//! several times the speed of reading it.
//!
//! What is read is checked as serde_json checks it, and the two are held against each other by tests and fuzzing.
//! Of a value that is skipped only so much is checked as is needed to find its end: that strings end, and that there
//! are as many closing brackets as opening ones. This is safe where it is used: the API server wrote the body, what is
//! skipped decides nothing, and the patch is applied by the API server to an object of its own.

mod masks;
mod parser;
mod skip;
#[cfg(test)]
mod tests;

pub use parser::{Error, from_slice, from_slice_seed};
