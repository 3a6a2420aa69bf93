//! Held against serde_json.

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::from_slice;
use super::parser::LIST_FOR_OBJECT;

/// Reads some members and skips the others.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
struct Partial<'a> {
    #[serde(borrow)]
    a: Option<&'a str>,
    b: Option<i64>,
    c: Vec<Partial<'a>>,
}

fn json() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-c]{0,3}", "[\"\\\\\\[\\]{}a\\n\u{e9}\u{1f600}]{0,70}", ".{0,12}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Where everything is read, both read the same or neither reads. Where values are skipped, they agree on JSON.
fn agree(bytes: &[u8]) {
    let (ours, theirs) = (from_slice::<Value>(bytes), serde_json::from_slice::<Value>(bytes));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
        (Err(_), Err(_)) => {}
        _ => panic!("{:?}: ours {ours:?}, theirs {theirs:?}", String::from_utf8_lossy(bytes)),
    }
    if theirs.is_ok() {
        from_slice::<IgnoredAny>(bytes).unwrap();
        let partial = serde_json::from_slice::<Partial<'_>>(bytes);
        match (from_slice::<Partial<'_>>(bytes), partial) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
            // On purpose: serde_json takes a list for a struct.
            (Err(ours), _) if ours.to_string().starts_with(LIST_FOR_OBJECT) => {}
            (Err(ours), Err(theirs)) => assert!(ours.is_data() || !theirs.is_data(), "{ours} {theirs}"),
            (ours, theirs) => panic!("{:?}: {ours:?} {theirs:?}", String::from_utf8_lossy(bytes)),
        }
    }
}

proptest! {
    #[test]
    fn values_read_as_serde_json_reads_them(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) };
        agree(&text.unwrap());
    }

    #[test]
    fn damaged_values_are_refused_as_serde_json_refuses_them(
        value in json(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        if cut { text.truncate(at) } else { text[at] = byte }
        agree(&text);
        // What is cut off is never taken for whole, even where it is skipped.
        if cut && !matches!(value, Value::Number(_)) {
            prop_assert!(from_slice::<IgnoredAny>(&text).is_err());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        agree(&bytes);
    }
}

#[test]
fn strings_across_the_edges_of_blocks() {
    for padding in 0..140 {
        for text in ["\\\"", "\\\\", "\\\\\\\"]}", "[{", "\\u0022", "]}\\\\"] {
            let body = format!("{{\"x\":[\"{}{text}\",{{}}],\"a\":\"end\"}}", "p".repeat(padding));
            let partial: Partial<'_> = from_slice(body.as_bytes()).unwrap();
            assert_eq!(partial.a, Some("end"), "{body}");
            agree(body.as_bytes());
        }
    }
}

#[test]
fn depth_is_limited_where_it_is_read_and_free_where_it_is_skipped() {
    let deep = 200_000;
    let nested = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    assert!(from_slice::<Value>(nested.as_bytes()).is_err());
    assert!(from_slice::<Partial<'_>>(format!("{{\"x\":{nested},\"b\":1}}").as_bytes()).is_ok());
    let open = "[".repeat(8 << 20);
    assert!(from_slice::<Partial<'_>>(format!("{{\"x\":{open}").as_bytes()).is_err());
    for depth in [126, 127, 128, 129] {
        agree(format!("{}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
    }
}

#[test]
fn real_reviews_read_the_same() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reviews");
    let mut read = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        agree(&std::fs::read(file.unwrap().path()).unwrap());
        read += 1;
    }
    assert!(read > 40);
}
