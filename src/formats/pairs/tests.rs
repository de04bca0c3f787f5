use super::*;
use crate::domain::vote::Outcome;
use clap::ValueEnum as _;
use rstest::rstest;

fn read(text: &str, options: &AnswerOptions) -> (Vec<PairAnswer>, Vec<String>) {
    let format = PairFormat::recognize(text).unwrap().unwrap();
    let read = format.read(&mut text.as_bytes(), "f", options);
    let (mut pairs, mut problems) = (Vec::new(), Vec::new());
    for pair in read.pairs {
        match pair {
            Ok(pair) => pairs.push(pair),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    (pairs, problems)
}

fn fields(fields: &[(crate::formats::answers::FieldRole, &str)]) -> AnswerOptions {
    AnswerOptions {
        fields: fields
            .iter()
            .map(|(role, name)| (*role, (*name).to_owned()))
            .collect(),
        ..AnswerOptions::default()
    }
}

/// The beginning of each choice: query, a, b, choice and person.
fn short(pairs: &[PairAnswer]) -> Vec<(&str, &str, &str, Outcome, &str)> {
    let pairs = pairs.iter();
    pairs
        .map(|pair| {
            let names = [&pair.query, &pair.a, &pair.b].map(|of| of.name.as_str());
            (names[0], names[1], names[2], pair.choice, pair.by.as_str())
        })
        .collect()
}

#[test]
fn comparisons_of_label_studio_are_choices_of_people() {
    use crate::formats::answers::FieldRole;
    let text = r#"[{"id":1,"data":{"prompt":"x","text1":"one","text2":"two"},"annotations":[
        {"completed_by":10,"updated_at":"2023-03-09T22:16:08.5Z","result":[{"from_name":"pw","to_name":"t1,t2","type":"pairwise","value":{"selected":"left"}}]},
        {"completed_by":11,"result":[{"from_name":"pw","to_name":"t1,t2","type":"choices","value":{"choices":["Same"]}}]}]}]"#;
    let mut options = fields(&[
        (FieldRole::Query, "prompt"),
        (FieldRole::A, "text1"),
        (FieldRole::B, "text2"),
    ]);
    let (_, problems) = read(text, &options);
    assert_eq!(problems.len(), 2);
    assert_eq!(
        problems[0],
        "f:1: question \"pw\": the answer \"left\" does not say which field it is; say which one is on \
         the left with --answer left=a or --answer left=b"
    );
    assert!(
        problems[1].starts_with(
            "f:1: question \"pw\": the answer \"Same\" does not say which document is better"
        ),
        "{problems:?}"
    );
    options.meanings.insert("Same".to_owned(), "tie".to_owned());
    options.meanings.insert("right".to_owned(), "a".to_owned());
    assert_eq!(read(text, &options).0[0].choice, Outcome::B);
    options.meanings.remove("right");
    options.meanings.insert("left".to_owned(), "a".to_owned());
    let (pairs, problems) = read(text, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        short(&pairs),
        [
            ("x", "one", "two", Outcome::A, "10"),
            ("x", "one", "two", Outcome::Tie, "11")
        ]
    );
    assert_eq!(pairs[0].created_ms, Some(1_678_400_168_500));
    options.rater = Some("11".to_owned());
    assert_eq!(read(text, &options).0.len(), 1);
    options.rater = Some("12".to_owned());
    assert_eq!(
        read(text, &options).1,
        ["f: has no answers of \"12\"; its people are \"10\", \"11\""]
    );
}

#[test]
fn the_answers_of_others_are_neither_interpreted_nor_counted() {
    let text = r#"{"fields":{"query":"x","a_id":"d1","b_id":"d2"},"responses":{
        "best":[{"value":"a","user_id":"ann"},{"value":[3],"user_id":"bob"},{"value":null,"user_id":"bob"},{"value":null,"user_id":"eve"}],
        "why":[{"value":null,"user_id":"ann"}]}}"#
        .replace('\n', "");
    let text = text.replace("\"b_id\"", "\"a\":\"one\",\"b_id\"");
    let mut options = AnswerOptions {
        question: Some("best".to_owned()),
        rater: Some("ann".to_owned()),
        ..AnswerOptions::default()
    };
    let (pairs, problems) = read(&text, &options);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(short(&pairs), [("x", "d1", "d2", Outcome::A, "ann")]);
    let unanswered = |text: &str, options: &AnswerOptions| {
        let format = PairFormat::recognize(text).unwrap().unwrap();
        format.read(&mut text.as_bytes(), "f", options).unanswered
    };
    assert_eq!(unanswered(&text, &options), 0);
    options.rater = None;
    assert_eq!(unanswered(&text.replace("[3]", "\"a\""), &options), 2);
}

#[test]
fn two_different_identifiers_of_a_document_are_refused() {
    let text = r#"{"fields":{"query":"x","a_id":"d1","doc_a":"d3","b_id":"d2"},"responses":{"best":[{"value":"a","user_id":"u"}]}}"#;
    let (_, problems) = read(text, &AnswerOptions::default());
    assert_eq!(
        problems,
        ["f:1: the fields \"a_id\" and \"doc_a\" differ; name one of them with --fields a=FIELD"]
    );
    let same = text.replace("d3", "d1");
    let (_, problems) = read(&same, &fields(&[]));
    assert!(problems[0].contains("does not say which"), "{problems:?}");
}

#[rstest]
#[case::choices(r#"["b","a"]"#)]
#[case::one_rank(r#"[{"value":"b","rank":2},{"value":"a"}]"#)]
#[case::fractions(r#"[{"value":"b","rank":1.5},{"value":"a","rank":2}]"#)]
fn a_choice_of_both_is_no_ranking(#[case] value: &str) {
    let text = format!(
        r#"{{"fields":{{"query":"x","a":"one","b":"two"}},"responses":{{"best":[{{"value":{value},"user_id":"u"}}]}}}}"#
    );
    let (pairs, problems) = read(&text, &AnswerOptions::default());
    assert!(pairs.is_empty());
    assert!(
        problems[0].starts_with(
            "f:1: question \"best\": found the answers \"b\" and \"a\" without a rank"
        ),
        "{problems:?}"
    );
}

#[rstest]
#[case::ranks(r#"[{"value":"b","rank":2},{"value":"a","rank":1}]"#, Outcome::A)]
#[case::equal_ranks(r#"[{"value":"a","rank":1},{"value":"b","rank":1}]"#, Outcome::Tie)]
#[case::label(r#""b""#, Outcome::B)]
fn rankings_of_argilla_are_choices(#[case] value: &str, #[case] expected: Outcome) {
    let record = |responses: &str| {
        format!(
            r#"{{"fields":{{"query":"x","a":"one","b":"two"}},"metadata":{{"a_id":"d1","b_id":"d2"}},"responses":{responses}}}"#
        )
    };
    let versions = [
        record(&format!(
            r#"[{{"user_id":"u","status":"submitted","values":{{"best":{{"value":{value}}}}}}}]"#
        )),
        record(&format!(
            r#"{{"best":[{{"value":{value},"user_id":"u"}}]}}"#
        )),
    ];
    for text in versions {
        let (pairs, problems) = read(&text, &AnswerOptions::default());
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(short(&pairs), [("x", "d1", "d2", expected, "u")]);
        assert_eq!(pairs[0].a.text.as_deref(), Some("one"));
    }
}

#[test]
fn votes_of_an_arena_are_about_the_answers_of_models() {
    let said = |answer: &str| {
        format!(
            r#"[{{"role":"user","content":"why?"}},{{"role":"assistant","content":"{answer}"}},{{"role":"user","content":"and?"}},{{"role":"assistant","content":"then {answer}"}}]"#
        )
    };
    let row = |more: &str| {
        format!(
            r#"{{"question_id":81,"model_a":"m1","model_b":"m2",{more},"conversation_a":{},"conversation_b":{},"tstamp":1682351604.1}}"#,
            said("one"),
            said("two")
        )
    };
    let text = [
        row(r#""winner":"model_b","judge":"expert_1","turn":1"#),
        row(r#""winner":"tie (bothbad)","judge":"expert_1","turn":2"#),
        row(r#""winner":"tie","judge":["gpt-4","pair-v2"]"#),
    ];
    let (pairs, problems) = read(&text.join("\n"), &AnswerOptions::default());
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("f:3: judge: expected the name of a person, found a model; "),
        "{problems:?}"
    );
    let expert = AnswerOptions {
        rater: Some("expert_1".to_owned()),
        ..AnswerOptions::default()
    };
    assert_eq!(read(&text.join("\n"), &expert), (pairs.clone(), Vec::new()));
    assert_eq!(
        short(&pairs),
        [
            ("81", "m1", "m2", Outcome::B, "expert_1"),
            ("81#2", "m1", "m2", Outcome::Tie, "expert_1"),
        ]
    );
    assert_eq!(pairs[0].query.text.as_deref(), Some("why?"));
    assert_eq!(pairs[0].b.text.as_deref(), Some("two"));
    assert_eq!(pairs[1].query.text.as_deref(), Some("why?\n\nand?"));
    assert_eq!(pairs[1].a.text.as_deref(), Some("one\n\nthen one"));
    assert_eq!(pairs[1].note, "both are bad");
    assert_eq!(pairs[0].created_ms, Some(1_682_351_604_100));
    assert_eq!(
        pairs.iter().map(|pair| pair.line).collect::<Vec<_>>(),
        [1, 2]
    );
}

#[rstest]
#[case::winner(
    r#""winner":"bothbad","judge":"ann""#,
    "f:1: winner: expected model_a, model_b, tie or tie (bothbad), found \"bothbad\""
)]
#[case::no_judge(r#""winner":"tie""#, "f:1: judge: is missing")]
#[case::turns(
    r#""winner":"tie","judge":"ann","turn":2,"conversation_a":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]"#,
    "f:1: conversation_a: expected as many messages of user and assistant as turns, found fewer"
)]
fn a_broken_vote_names_its_line(#[case] more: &str, #[case] expected: &str) {
    let text = format!(r#"[{{"question_id":"q","model_a":"m","model_b":"n",{more}}}]"#);
    let format = PairFormat::from_str("arena", false).unwrap();
    let read = format.read(&mut text.as_bytes(), "f", &AnswerOptions::default());
    let problems: Vec<String> = read
        .pairs
        .into_iter()
        .filter_map(|pair| pair.err().map(|problem| problem.to_string()))
        .collect();
    assert_eq!(problems, [expected]);
}

/// Options with a data file of two items, `i1` and `i2`.
fn items_of_two() -> AnswerOptions {
    let items = r#"{"id":"i1","query":"x","a":"one","b":"two","extra":["y"]}
{"id":"i2","query":"x","a":"one","b":"three"}"#;
    let mut wrong = Vec::new();
    let items = crate::formats::answers::read_items(items.as_bytes(), "items", &mut |problem| {
        wrong.push(problem.to_string());
    });
    assert_eq!(wrong, Vec::<String>::new());
    AnswerOptions {
        items: Some(items.into()),
        ..AnswerOptions::default()
    }
}

#[test]
fn comparisons_of_potato_are_about_the_items_of_its_data_file() {
    let text = r#"{"instance_id":"i1","user_id":"ann","labels":{"better":{"selection":"B"}},"spans":{}}
{"instance_id":"i2","user_id":"ann","labels":{"better":{"selection":"tie"}}}
{"instance_id":"i3","user_id":"ann","labels":{"better":{"selection":"A"}}}"#;
    let (_, problems) = read(text, &AnswerOptions::default());
    assert!(
        problems[0].starts_with("f:1: instance_id: what it is about is in Potato's data file"),
        "{problems:?}"
    );
    let options = items_of_two();
    let (pairs, problems) = read(text, &options);
    assert_eq!(
        short(&pairs),
        [
            ("x", "one", "two", Outcome::B, "ann"),
            ("x", "one", "three", Outcome::Tie, "ann")
        ]
    );
    assert_eq!(
        problems,
        ["f:3: instance_id: \"i3\" is not in the file of --items"]
    );
}

#[test]
fn comparisons_of_a_table_of_potato_are_choices() {
    let text = "instance_id,user_id,better.selection,better.justification\r\ni1,ann,B,clearer\r\ni2,\
                ann,tie,\r\ni1,bob,,\r\ni2,bob,same,\r\n";
    let options = items_of_two();
    let (pairs, problems) = read(text, &options);
    assert_eq!(
        short(&pairs),
        [
            ("x", "one", "two", Outcome::B, "ann"),
            ("x", "one", "three", Outcome::Tie, "ann")
        ]
    );
    assert_eq!(
        problems,
        [
            "f:5: question \"better\": the answer \"same\" does not say which document is better; say \
             it with --answer 'same=a', b or tie"
        ]
    );
}

#[test]
fn comparisons_in_json_min_are_choices_with_notes() {
    let record = |result: &str| {
        format!(
            r#"{{"query":"x","a":"one","b":"two","id":1,{result},"annotator":"ann@lab.org","annotation_id":5,"created_at":"2023-03-09T22:16:08.5Z","updated_at":null,"lead_time":1.0}}"#
        )
    };
    let records = [
        record(r#""pw":[{"selected":"left"}],"comment":"clearer""#),
        record(r#""pw":"b","comment":[{"text":["so","too"]}]"#),
        record(r#""pw":"tie","comment":["so","too"]"#),
    ];
    let options = AnswerOptions {
        meanings: [("left".to_owned(), "a".to_owned())].into(),
        ..AnswerOptions::default()
    };
    let (pairs, problems) = read(&format!("[{}]", records.join(",\n")), &options);
    assert_eq!(problems, Vec::<String>::new());
    let choice = |choice| ("x", "one", "two", choice, "ann@lab.org");
    let expected = [Outcome::A, Outcome::B, Outcome::Tie].map(choice);
    assert_eq!(short(&pairs), expected);
    let notes: Vec<&str> = pairs.iter().map(|pair| pair.note.as_str()).collect();
    assert_eq!(notes, ["clearer", "so\ntoo", "so\ntoo"]);
    assert_eq!(pairs[0].created_ms, Some(1_678_400_168_500));
}

fn form(name: &str) -> PairForm {
    PairForm::all()
        .find(|form| form.names().name == name)
        .unwrap()
}

fn written(form: PairForm, pairs: &[ExportedPair<'_>]) -> (String, LostDetails) {
    let mut out = Vec::new();
    let mut writer = PairWriter::new(form, &mut out);
    pairs.iter().for_each(|pair| writer.add(pair).unwrap());
    let lost = writer.finish().unwrap();
    (String::from_utf8(out).unwrap(), lost)
}

#[test]
fn written_choices_are_read_as_the_same_choices() {
    let of = |by, choice, note| ExportedChoice {
        by,
        choice,
        note,
        created_ms: 1_678_400_168_501,
    };
    let item = |id, text| ExportedItem { id, text };
    let pairs = [
        ExportedPair {
            query: item("q\u{1b}[2J1", "=which\n\u{202e}one?"),
            a: item("d\"1,\n", "\"one\", or\u{7}"),
            b: item("\u{65e5}", "two"),
            choices: vec![
                of("ann@lab.org", Outcome::A, Some("since\n\"it\u{1b}\" is")),
                of("7", Outcome::Tie, Some("both are bad")),
                of("007", Outcome::B, None),
            ],
        },
        ExportedPair {
            query: item("q2", "and?"),
            a: item("x", "one"),
            b: item("y", "one"),
            choices: vec![of("b/ob\u{1f600}", Outcome::Tie, None)],
        },
    ];
    let forms: Vec<PairForm> = PairForm::all().collect();
    assert_eq!(forms.len(), 3);
    for form in forms {
        let name = form.names().name;
        let format = PairFormat::from_str(name, false).unwrap();
        let (text, lost) = written(form, &pairs);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
        assert_eq!(PairFormat::recognize(&text), Ok(Some(format)));
        let (read, problems) = read(&text, &AnswerOptions::default());
        assert_eq!(problems, Vec::<String>::new());
        let how = form.written;
        let given = pairs.iter().flat_map(|pair| {
            let of_pair = pair.choices.iter();
            of_pair.map(move |choice| (pair, choice))
        });
        let given: Vec<_> = given.collect();
        let texts = |pair: &PairAnswer| {
            [&pair.query, &pair.a, &pair.b].map(|of| (of.name.clone(), of.text.clone().unwrap()))
        };
        assert_eq!(read.len(), given.len(), "{name}");
        for (found, (pair, choice)) in read.iter().zip(given) {
            let items = [pair.query, pair.a, pair.b];
            assert_eq!(
                texts(found),
                items.map(|of| (of.id.to_owned(), of.text.to_owned())),
                "{name}"
            );
            assert_eq!(
                (found.by.as_str(), found.choice),
                (choice.by, choice.choice)
            );
            let note = choice.note.filter(|_| (how.has_note)(choice));
            assert_eq!(found.note, note.unwrap_or_default(), "{name}");
            let time = (how.has_time)(choice).then_some(choice.created_ms);
            assert_eq!(found.created_ms, time, "{name}");
        }
        let (notes, times) = match name {
            "arena" => (1, 0),
            "argilla" => (0, 4),
            _ => (0, 0),
        };
        assert_eq!(lost, LostDetails { notes, times }, "{name}");
        let (empty, _) = written(form, &[]);
        assert_eq!(empty, "[]\n");
    }
}

#[test]
fn people_are_named_as_label_studio_does() {
    let pair = ExportedPair {
        query: ExportedItem { id: "q", text: "?" },
        a: ExportedItem {
            id: "x",
            text: "one",
        },
        b: ExportedItem {
            id: "y",
            text: "two",
        },
        choices: ["12", "ann@lab.org"]
            .map(|by| ExportedChoice {
                by,
                choice: Outcome::B,
                note: None,
                created_ms: 1_678_400_168_500,
            })
            .to_vec(),
    };
    let (text, _) = written(form("label-studio"), &[pair]);
    let tasks: serde_json::Value = serde_json::from_str(&text).unwrap();
    let annotations = &tasks[0]["annotations"];
    assert_eq!(annotations[0]["completed_by"], 12);
    assert_eq!(annotations[1]["completed_by"]["email"], "ann@lab.org");
    assert_eq!(annotations[1]["ground_truth"], false);
    assert_eq!(annotations[1]["created_at"], "2023-03-09T22:16:08.5Z");
    assert_eq!(annotations[1]["result"][0]["value"]["choices"][0], "b");
}

#[test]
fn a_comment_is_a_note_and_a_question_only_if_it_is_asked_for() {
    let text = r#"{"fields":{"query":"x","a_id":"d1","b_id":"d2"},"responses":{
        "best":[{"value":"a","user_id":"ann"},{"value":"b","user_id":"bob"}],
        "comment":[{"value":"clearer","user_id":"bob"},{"value":null,"user_id":"ann"}]}}"#
        .replace('\n', "");
    let text = text.replace("\"a_id\"", "\"a\":\"one\",\"b\":\"two\",\"a_id\"");
    let (pairs, problems) = read(&text, &AnswerOptions::default());
    assert_eq!(problems, Vec::<String>::new());
    let notes: Vec<&str> = pairs.iter().map(|pair| pair.note.as_str()).collect();
    assert_eq!(notes, ["", "clearer"]);
    let alone = text.replace("\"best\"", "\"comment\"");
    let cut = alone.rfind(",        \"comment\"").unwrap();
    let (pairs, problems) = read(&format!("{}}}}}", &alone[..cut]), &AnswerOptions::default());
    assert_eq!((pairs.len(), problems.len()), (2, 0), "{problems:?}");
    let asked = AnswerOptions {
        question: Some("comment".to_owned()),
        ..AnswerOptions::default()
    };
    let (_, problems) = read(&text, &asked);
    assert!(
        problems[0].contains("\"clearer\" does not say"),
        "{problems:?}"
    );
}

/// A choice without anything else.
fn plain(by: &str) -> ExportedChoice<'_> {
    ExportedChoice {
        by,
        choice: Outcome::B,
        note: None,
        created_ms: 1_678_400_168_500,
    }
}

fn pair_of<'a>(texts: [&'a str; 3], choices: Vec<ExportedChoice<'a>>) -> ExportedPair<'a> {
    let [query, a, b] = texts;
    let item = |id, text| ExportedItem { id, text };
    ExportedPair {
        query: item("q", query),
        a: item("x", a),
        b: item("y", b),
        choices,
    }
}

#[test]
fn a_file_is_recognized_before_its_first_long_text() {
    let long = "a word ".repeat(45_000);
    let pair = pair_of([&long, &long, "two"], vec![plain("ann")]);
    for form in PairForm::all() {
        let (text, _) = written(form, std::slice::from_ref(&pair));
        let found = PairFormat::recognize(&text[..256 * 1024]).unwrap();
        assert_eq!(
            found.map(|found| found.names().name),
            Some(form.names().name)
        );
    }
}

#[test]
fn responses_for_argilla_are_submitted_and_drafts_are_no_answers() {
    let mut choice = plain("ann");
    choice.note = Some("since");
    let pair = pair_of(["?", "one", ""], vec![choice]);
    let argilla = PairFormat::from_str("argilla", false).unwrap();
    let (text, _) = written(form("argilla"), &[pair]);
    let records: serde_json::Value = serde_json::from_str(&text).unwrap();
    let record = &records[0];
    for question in ["better", "comment"] {
        assert_eq!(record["responses"][question][0]["status"], "submitted");
    }
    assert_eq!(record["status"], serde_json::Value::Null);
    let found = argilla.read(&mut text.as_bytes(), "f", &AnswerOptions::default());
    let pair = found.pairs[0].as_ref().unwrap();
    assert_eq!(pair.b.text.as_deref(), Some(""));
    let draft = text.replace("submitted", "draft");
    let found = argilla.read(&mut draft.as_bytes(), "f", &AnswerOptions::default());
    assert_eq!((found.pairs.len(), found.unanswered), (0, 1));
}

#[test]
fn rows_for_an_arena_are_an_array_of_anonymous_votes() {
    let mut late = plain("bob");
    late.created_ms = i64::MAX;
    let pair = pair_of(["?", "one", "two"], vec![plain("ann"), late]);
    let (text, lost) = written(form("arena"), &[pair]);
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(rows[0]["anony"], true);
    assert_eq!(rows[0]["tstamp"], 1_678_400_168.5);
    assert_eq!(rows[1]["tstamp"], serde_json::Value::Null);
    assert_eq!(lost, LostDetails { notes: 0, times: 1 });
}

#[test]
fn a_comment_alone_is_no_answer_where_another_record_has_one() {
    let record = |responses: &str| {
        format!(
            r#"{{"fields":{{"query":"x","a":"one","b":"two"}},"metadata":{{"a_id":"d1","b_id":"d2"}},"responses":{responses}}}"#
        )
    };
    let text = [
        record(r#"{"comment":[{"value":"odd","user_id":"bob"}]}"#),
        record(r#"{"best":[{"value":"a","user_id":"ann"}]}"#),
        record(
            r#"{"best":[{"value":null,"user_id":"eve"}],"comment":[{"value":"no","user_id":"eve"}]}"#,
        ),
    ]
    .join("\n");
    let argilla = PairFormat::from_str("argilla", false).unwrap();
    let found = argilla.read(&mut text.as_bytes(), "f", &AnswerOptions::default());
    let pairs: Vec<PairAnswer> = found.pairs.into_iter().map(Result::unwrap).collect();
    assert_eq!(short(&pairs), [("x", "d1", "d2", Outcome::A, "ann")]);
    assert_eq!(found.unanswered, 2);
}
