//! Every format over one report with awkward texts in it.

use serde_json::{Value, json};

use super::*;
use crate::rules::{Action, Intent, Mode, Severity};

fn report() -> Report {
    let finding = Finding {
        rule: "grace-period",
        severity: Severity::Error,
        mode: Mode::Enforce,
        intent: Intent::Change,
        policy: "p".into(),
        path: "/spec/terminationGracePeriodSeconds".into(),
        action: Action::Change,
        message: "600 s | <b>\"x\"</b> 100% ]]> \u{1b}[31m".into(),
        help: "write 120,\nnot `600`".into(),
        from: json!(600),
        to: json!(120),
    };
    let object = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some("shop".into()),
        name: "web".into(),
    };
    Report {
        summary: Summary { files: 2, objects: 1, targeted: 1, errors: 1, problems: 1, ..Summary::default() },
        findings: vec![LocatedFinding {
            finding,
            file: "a b/c,d.yaml".into(),
            document: 1,
            line: 12,
            column: 7,
            object: object.clone(),
        }],
        problems: vec![ReadProblem {
            file: "e.yaml".into(),
            document: 2,
            line: 3,
            column: 1,
            message: "a tab".into(),
        }],
        previews: vec![Preview {
            file: "a b/c,d.yaml".into(),
            object,
            before: "grace: 600\nname: web\n".into(),
            after: "grace: 120\nname: web\n".into(),
        }],
        skipped: BTreeMap::from([("Service".to_owned(), 2)]),
        owned: 1,
        policies: vec!["p".into()],
        notes: vec!["a note".into()],
    }
}

fn rendered(format: Format) -> String {
    render(&report(), format, &RenderOptions { color: false, fix_preview: true })
}

#[test]
fn json_is_the_contract() {
    let value: Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
    assert_eq!(
        value["findings"][0],
        json!({
            "rule": "grace-period", "severity": "error", "policy": "p", "file": "a b/c,d.yaml", "document": 1,
            "line": 12, "column": 7,
            "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web"},
            "path": "/spec/terminationGracePeriodSeconds", "action": "change",
            "message": "600 s | <b>\"x\"</b> 100% ]]> \u{1b}[31m", "help": "write 120,\nnot `600`",
            "from": 600, "to": 120,
        })
    );
    assert_eq!(
        value["summary"],
        json!({"files": 2, "objects": 1, "targeted": 1, "errors": 1, "warnings": 0, "infos": 0, "problems": 1})
    );
    assert_eq!(
        value["problems"],
        json!([{"file": "e.yaml", "document": 2, "line": 3, "column": 1, "message": "a tab"}])
    );
    assert_eq!(yaml_value(&rendered(Format::Yaml)), value);
}

fn yaml_value(text: &str) -> Value {
    let mut documents = yaml::Documents::new(text.as_bytes());
    documents.next().unwrap().unwrap().root.to_json()
}

#[test]
fn text_keeps_control_characters_from_the_terminal() {
    let text = rendered(Format::Text);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(text.contains("a b/c,d.yaml:12:7: error[grace-period]: 600 s |"), "{text}");
    assert!(text.contains("600 -> 120"), "{text}");
    assert!(text.contains("-grace: 600\n+grace: 120\n"), "{text}");
    assert!(
        text.contains("2 files, 1 object, 1 targeted: 1 error, 0 warnings, 0 infos, 1 problem"),
        "{text}"
    );
    assert!(
        text.contains("2 Service") && text.contains("1 object is owned") && text.contains("a note"),
        "{text}"
    );
    let coloured = render(&report(), Format::Text, &RenderOptions { color: true, fix_preview: false });
    assert!(coloured.contains("\u{1b}[31;1merror\u{1b}[0m"), "{coloured:?}");
}

#[test]
fn text_asks_when_nothing_is_targeted() {
    let mut report = report();
    report.summary.targeted = 0;
    let text = render(&report, Format::Text, &RenderOptions::default());
    assert!(text.contains("is this the right policy?"), "{text}");
}

#[test]
fn github_commands_are_escaped() {
    let text = rendered(Format::Github);
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "::error file=a b/c%2Cd.yaml,line=12,col=7,title=sundown grace-period::600 s | <b>\"x\"</b> 100%25 ]]> \
         \u{1b}[31m%0Awrite 120,%0Anot `600`"
    );
    assert!(text.contains("::error file=e.yaml,line=3,col=1,title=sundown unreadable::a tab\n"), "{text}");
}

#[test]
fn markdown_cells_hold_no_markup() {
    let text = rendered(Format::Markdown);
    let row = text.lines().find(|line| line.contains("600 s")).unwrap();
    assert!(row.contains("600 s \\| &lt;b&gt;\"x\"&lt;/b&gt; 100%"), "{row}");
    let separators = row.replace("\\|", "").matches('|').count();
    assert_eq!(separators, 6, "{row}");
}

#[test]
fn junit_counts_and_escapes() {
    let text = rendered(Format::Junit);
    assert!(text.contains("<testsuites name=\"sundown\" tests=\"3\" failures=\"1\" errors=\"1\">"), "{text}");
    assert!(
        text.contains("message=\"600 s | &lt;b&gt;&quot;x&quot;&lt;/b&gt; 100% ]]&gt; \u{fffd}[31m\""),
        "{text}"
    );
}

#[test]
fn sarif_points_to_rule_and_place() {
    let value: Value = serde_json::from_str(&rendered(Format::Sarif)).unwrap();
    let run = &value["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "grace-period");
    let result = &run["results"][0];
    assert_eq!(result["ruleIndex"], 0);
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b/c%2Cd.yaml");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}
