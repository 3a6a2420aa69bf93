//! Cases about how a manifest is spelt, varied: what `check` finds must depend on what is meant.

use std::fs;

use crate::{Checked, GRACE, REFERENCE, case, check_with};

const VALUE: &str = "invalid-object /spec/template/spec/tolerations/0/value";

/// A Deployment that asks for 90 s and tolerates the taint by a value, which is spelt as given.
fn deployment(value: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      terminationGracePeriodSeconds: 90
      tolerations:
      - key: cloud.example.com/preemptible
        value: {value}
      containers: [{{name: m, image: r.example.com/web:1}}]
"
    )
}

fn good() -> String {
    deployment("\"true\"")
}

fn check_text(text: &str) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("manifest.yaml");
    fs::write(&file, text).unwrap();
    check_with(REFERENCE, file.to_str().unwrap())
}

#[test]
fn c162_documents_without_content_do_not_count() {
    let good = good();
    for text in [
        good.clone(),
        format!("---\n{good}"),
        format!("---\n---\n{good}"),
        format!("# a comment\n---\n# another\n---\n{good}---\n"),
        format!("{good}---\n# the end\n...\n"),
        format!("null\n---\n{good}---\n~\n"),
        format!("%YAML 1.2\n---\n{good}"),
        good.replace("      containers:", "      volumes:\n      initContainers: ~\n      containers:"),
    ] {
        let checked = check_text(&text);
        assert_eq!(checked.errors_of("web"), [GRACE], "{text}");
        assert_eq!((checked.summary("objects"), checked.summary("problems")), (1, 0), "{text}");
    }
}

#[test]
fn c164_owned_objects_are_quiet_in_every_order() {
    let text = fs::read_to_string(case("164-list-mixed-with-objects")).unwrap();
    let (head, items) = text.split_once("items:\n").unwrap();
    let items: Vec<&str> = items.split_inclusive('\n').collect();
    let starts: Vec<usize> = (0..items.len()).filter(|at| items[*at].starts_with("  - ")).collect();
    let ends = starts.iter().skip(1).copied().chain([items.len()]);
    let items: Vec<String> =
        starts.iter().zip(ends).map(|(start, end)| items[*start..end].concat()).collect();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let text = format!("{head}items:\n{}", order.map(|at| items[at].as_str()).concat());
        let checked = check_text(&text);
        assert_eq!(checked.errors_of("dump"), [GRACE], "{order:?}");
        assert!(checked.says_nothing_of("dump-1") && checked.says_nothing_of("dump-1-x"), "{order:?}");
        assert_eq!((checked.summary("objects"), checked.summary("targeted")), (4, 1), "{order:?}");
    }
}

#[test]
fn c166_only_a_document_that_does_not_parse_is_a_template() {
    let good = good();
    for data in [
        "# {{ if .Values.on }}\n",
        "---\n{kind: ConfigMap, apiVersion: v1, metadata: {name: '{{x}}'}}\n---\n",
    ] {
        let checked = check_text(&format!("{data}{good}"));
        assert_eq!(
            (checked.errors_of("web"), checked.summary("problems")),
            (vec![GRACE.into()], 0),
            "{data}"
        );
        assert_eq!(checked.exit, 1, "{data}");
    }
    let checked = check_text(&format!("{good}---\n{{{{- if .Values.on }}}}\nkind: Pod\n{{{{- end }}}}\n"));
    assert_eq!((checked.errors_of("web"), checked.summary("problems")), (vec![GRACE.into()], 1));
    assert_eq!(checked.exit, 2);
}

#[test]
fn c168_a_string_is_what_yaml_says_is_one() {
    for text in ["\"true\"", "'true'", "!!str true", "|-\n          true", "&anchor \"true\""] {
        let checked = check_text(&deployment(text));
        assert_eq!(checked.errors_of("web"), [GRACE], "{text}");
    }
    // Evaluation goes on with the text of the value.
    for boolean in ["true", "True", "TRUE"] {
        let errors = check_text(&deployment(boolean)).errors_of("web");
        assert_eq!(errors.first().map(String::as_str), Some(VALUE), "{boolean}");
    }
    assert_eq!(check_text(&deployment("true")).errors_of("web"), [VALUE, GRACE]);
    for other in ["yes", "on", "1", "0x1", "1.0", "1e3", "[true]", "{a: b}"] {
        assert!(check_text(&deployment(other)).errors_of("web").contains(&VALUE.to_owned()), "{other}");
    }
    for absent in ["", "~", "null", "\"\"", "\"yes\"", "\"True\""] {
        let checked = check_text(&deployment(absent));
        assert_eq!(checked.errors_of("web"), Vec::<String>::new(), "{absent:?}");
        assert_eq!(checked.summary("targeted"), 0, "{absent:?}");
    }
}

#[test]
fn c170_whichever_is_last_counts_at_any_depth() {
    let seconds = "      terminationGracePeriodSeconds: 90\n";
    let five = "      terminationGracePeriodSeconds: 5\n";
    for (lines, errors) in [
        (format!("{five}{seconds}"), vec![GRACE]),
        (format!("{seconds}{five}"), vec![]),
        (format!("{seconds}{five}{seconds}"), vec![GRACE]),
        (format!("{seconds}{seconds}"), vec![GRACE]),
    ] {
        let checked = check_text(&good().replace(seconds, &lines));
        assert_eq!(checked.errors_of("web"), errors, "{lines}");
        let twice = "invalid-object /spec/template/spec/terminationGracePeriodSeconds".to_owned();
        assert!(checked.warnings_of("web").contains(&twice), "{lines}");
        assert_eq!(checked.exit, i32::from(!errors.is_empty()), "{lines}");
    }
    let flow = good().replace("{app: web}}\n    spec", "{app: api, app: web}}\n    spec");
    let warned = check_text(&flow).warnings_of("web");
    assert!(warned.contains(&"invalid-object /spec/template/metadata/labels/app".to_owned()), "{warned:?}");
}

#[test]
fn c172_marks_and_line_ends_change_nothing() {
    let (mark, good) = ("\u{feff}", good());
    for text in [
        format!("{mark}{good}"),
        format!("{mark}---\n{good}"),
        good.replace('\n', "\r\n"),
        format!("{mark}{good}").replace('\n', "\r\n"),
        format!("{good}---\n{mark}{{apiVersion: v1, kind: Secret, metadata: {{name: s}}}}\n"),
    ] {
        let checked = check_text(&text);
        assert_eq!(
            (checked.errors_of("web"), checked.summary("problems")),
            (vec![GRACE.into()], 0),
            "{text:?}"
        );
    }
}

#[test]
fn c174_the_rest_is_checked_wherever_the_bad_document_stands() {
    let good = good();
    for bad in
        ["kind: [unclosed\n", "a:\n\tb: 1\n", "\"open\n", "a: b: c\n", "apiVersion: v1\nmetadata: {}\n"]
    {
        for text in [format!("{bad}---\n{good}"), format!("{good}---\n{bad}")] {
            let checked = check_text(&text);
            assert_eq!(checked.errors_of("web"), [GRACE], "{text}");
            assert_eq!((checked.summary("problems"), checked.exit), (1, 2), "{text}");
        }
        let between =
            check_text(&format!("{good}---\n{bad}---\n{}", good.replace("name: web,", "name: api,")));
        assert_eq!(between.errors_of("api"), [GRACE], "{bad}");
    }
}
