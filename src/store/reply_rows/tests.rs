//! Packed replies unpack byte for byte, and invalid bytes are errors.

use super::*;
use crate::store::labels::tests::pool;

fn text(number: usize) -> ReplyText {
    let reasoning = format!(
        "Document A answers the question directly and names {number} causes of it, with a source for each.\n\
         Document B is about a neighboring subject and says “none”: \u{1f926}. So Document A is the better match."
    );
    ReplyText {
        raw: Some(format!(
            r#"{{"thoughts": [{reasoning:?}], "score": 0.{number}}}"#
        )),
        request_id: Some(format!("call-{number}")),
        reasoning,
    }
}

fn kept(db: &Db, text: &ReplyText) -> i64 {
    let row = db.replies.keep(&db.connection, text).unwrap();
    row.unwrap()
}

fn read(db: &Db, reply: i64) -> Result<ReplyText> {
    let packed = db.packed_reply(reply)?;
    db.replies
        .unpacked(&db.connection, packed.dictionary, &packed.bytes)
}

/// Adds replies until they are packed with a dictionary; the reply with the highest row comes last.
fn until_trained(db: &Db) -> Vec<(i64, ReplyText)> {
    let mut all = Vec::new();
    loop {
        let text = text(all.len());
        let row = kept(db, &text);
        all.push((row, text));
        if db.packed_reply(row).unwrap().dictionary.is_some() {
            return all;
        }
        assert!(all.len() < 1_000_000, "the dictionary never came");
        std::thread::yield_now();
    }
}

#[test]
fn every_byte_comes_back_with_a_dictionary_and_without() {
    let db = Db::scratch().unwrap();
    let odd = [
        ReplyText::default(),
        ReplyText {
            raw: Some(String::new()),
            ..ReplyText::default()
        },
        ReplyText {
            reasoning: "a\0b\u{fffd}".repeat(100_000),
            ..ReplyText::default()
        },
    ];
    assert_eq!(db.replies.keep(&db.connection, &odd[0]).unwrap(), None);
    for text in &odd[1..] {
        assert_eq!(&read(&db, kept(&db, text)).unwrap(), text);
    }
    let all = until_trained(&db);
    for (row, text) in &all {
        assert_eq!(&read(&db, *row).unwrap(), text);
    }
    for text in &odd[1..] {
        assert_eq!(&read(&db, kept(&db, text)).unwrap(), text);
    }
    let bytes = |row| db.packed_reply(row).unwrap().bytes.len();
    let (first, last) = (bytes(all[0].0), bytes(all[all.len() - 1].0));
    assert!(last * 2 < first, "{last} bytes after {first}");
}

#[test]
fn what_is_kept_when_a_dictionary_was_taken_back_can_be_read() {
    let mut db = Db::scratch().unwrap();
    let taken_back = db.rehearsed(|db| {
        until_trained(db);
        Ok(())
    });
    taken_back.unwrap();
    let row = kept(&db, &text(7));
    assert!(db.packed_reply(row).unwrap().dictionary.is_some());
    assert_eq!(read(&db, row).unwrap(), text(7));
    let other = Db::new(db.connection);
    assert_eq!(read(&other, row).unwrap(), text(7));
}

#[test]
fn the_next_time_goes_on_with_the_same_dictionary() {
    let db = Db::scratch().unwrap();
    until_trained(&db);
    let next = Db::new(db.connection);
    let row = kept(&next, &text(5));
    assert!(next.packed_reply(row).unwrap().dictionary.is_some());
    let dictionaries: i64 = next.value("SELECT count(*) FROM dictionary", []).unwrap();
    assert_eq!(dictionaries, 1);
}

#[test]
fn a_dictionary_that_is_no_good_loses_no_reply() {
    let db = Db::scratch().unwrap();
    // The magic number of a zstd dictionary, followed by garbage.
    db.connection
        .execute(
            "INSERT INTO dictionary (hash, bytes) VALUES (x'00', x'37a430ec00000000ffff')",
            [],
        )
        .unwrap();
    let row = kept(&db, &text(3));
    assert_eq!(read(&db, row).unwrap(), text(3));
}

#[test]
fn bytes_that_nobody_packed_are_an_error_and_take_no_memory() {
    let db = Db::scratch().unwrap();
    let huge = {
        let zeros = vec![0; 80 << 20];
        let frame = zstd::bulk::compress(&zeros, 1).unwrap();
        [&[1], &frame[4..]].concat()
    };
    let endless = {
        // A frame that does not declare its size.
        let frame = zstd::stream::encode_all(&b"abc"[..], 1).unwrap();
        [&[1], &frame[4..]].concat()
    };
    let broken: [&[u8]; 6] = [&[], &[9, 1], &[1], &[1, 2, 3, 4, 5, 6], &huge, &endless];
    for bytes in broken {
        let error = db
            .replies
            .unpacked(&db.connection, None, bytes)
            .unwrap_err();
        assert!(
            error.to_string().contains("reply cannot be read"),
            "{error}"
        );
    }
    // A text that declares more than its actual size.
    let error = db
        .replies
        .unpacked(&db.connection, None, &[0, 0xff, 0xff, 0xff, 0x7f, b'a']);
    assert!(matches!(error, Err(StoreError::Corrupt(_))));
    let error = db.replies.unpacked(&db.connection, Some(7), &[0, 0]);
    assert!(matches!(error, Err(StoreError::Corrupt(_))));
}

#[test]
fn texts_of_documents_come_back_to_the_byte_here_and_in_another_project() {
    let db = Db::scratch().unwrap();
    let words = |at: usize| {
        let odd = if at.is_multiple_of(3) {
            "\u{1f926}\n"
        } else {
            "é"
        };
        format!("{odd}Document {at} says what others say in the same words. ").repeat(1 + at % 7)
    };
    let mut pool = pool(&["{}"; 3]);
    pool.documents[0].content = "x".repeat(70 << 20);
    pool.documents[1].content = String::new();
    pool.documents[2].content = words(5);
    let query = db.add_pool(&pool, "set").unwrap().key();
    let mut document = pool.documents[2].clone();
    let with_dictionary = "SELECT count(*) FROM content WHERE dictionary IS NOT NULL";
    let mut texts: Vec<String> = Vec::new();
    while db.value::<i64>(with_dictionary, []).unwrap() < 3 {
        let at = texts.len();
        document.id = crate::domain::corpus::DocId::new(format!("more-{at}"));
        document.content = words(1_000 + at);
        texts.push(document.content.clone());
        db.add_document(query, &document).unwrap();
        assert!(at < 1_000_000, "the dictionary never came");
    }
    pool.documents
        .iter()
        .rev()
        .for_each(|known| texts.insert(0, known.content.clone()));
    let lengths = db.document_lengths(query).unwrap();
    let infos = db.documents(query).unwrap();
    let stored = db.pool(query).unwrap();
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(&*db.document_text(query, at).unwrap(), text);
        assert_eq!(&stored.documents[at].content, text);
        assert_eq!(lengths[at], text.chars().count());
        assert_eq!(
            infos[at].snippet,
            text.chars().take(160).collect::<String>()
        );
    }
    assert!(
        db.value::<i64>("SELECT count(*) FROM content WHERE packed IS NULL", [])
            .unwrap()
            > 0
    );

    let other = Db::scratch().unwrap();
    let mut merger = crate::store::merge::Merger::new(&other, &db);
    for theirs in merger.queries().unwrap() {
        merger.matched(&theirs).unwrap();
    }
    let merged = other.known_query(pool.query.id.as_str()).unwrap().unwrap();
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(&*other.document_text(merged, at).unwrap(), text);
    }
}
