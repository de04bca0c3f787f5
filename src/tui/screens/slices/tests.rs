use crate::domain::corpus::JsonObject;
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, flat, model};
use crate::tui::update::commands::on_command;

fn branded() -> Model {
    let mut model = model(Screen::MATRIX);
    let open = model.open.as_mut().unwrap();
    for (at, document) in open.documents.iter_mut().enumerate() {
        let brand = ["Åre", "Ølund\\u001b[2J", "Åre"][at % 3];
        let metadata = format!(r#"{{"brand":"{brand}","grade":1,"price":{at}}}"#);
        document.metadata = JsonObject::from_compact(metadata);
    }
    on_command(&mut model, Command::ShowSlices);
    model
}

#[test]
fn slices_have_means_with_intervals_and_list_their_documents() {
    let mut model = branded();
    for size in SIZES {
        let page = flat(&mut model, size);
        for words in ["brand", "Åre", "mean zELO", "in top", "docs", "±"] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(
            !page.contains('\u{1b}') && !page.contains("grade"),
            "{page}"
        );
    }
    on_command(&mut model, Command::NextPane);
    assert!(flat(&mut model, SIZES[0]).contains("price"));
    for size in TINY {
        flat(&mut model, size);
    }
}

#[test]
fn a_slice_filters_the_matrix_until_esc() {
    let mut model = branded();
    let all = model.matrix_order();
    on_command(&mut model, Command::Open);
    assert_eq!(model.screen(), Screen::MATRIX);
    let kept = model.matrix_order();
    assert!(kept.len() < all.len(), "{kept:?}");
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("only brand"), "{page}");
    on_command(&mut model, Command::Back);
    assert_eq!(model.matrix_order(), all);
    assert_eq!(model.screen(), Screen::MATRIX);
}

#[test]
fn a_field_colors_the_rows_of_the_matrix_until_it_is_chosen_again() {
    let mut model = branded();
    on_command(&mut model, Command::ColorSlices);
    assert_eq!(model.screen(), Screen::MATRIX);
    let page = flat(&mut model, (160, 38));
    assert!(page.contains("by brand: a "), "{page}");
    assert!(page.contains("Åre") && page.contains("Ølund␛[2J"), "{page}");
    assert!(!page.contains('\u{1b}'));
    let colors = model.matrix.colors.clone().unwrap();
    assert_eq!(colors.slices[0], colors.slices[2]);
    assert_ne!(colors.slices[0], colors.slices[1]);
    on_command(&mut model, Command::ShowSlices);
    on_command(&mut model, Command::ColorSlices);
    assert_eq!(model.matrix.colors, None);
    assert_eq!(model.screen(), Screen::SLICES);
}

#[test]
fn without_metadata_it_says_so() {
    let mut model = branded();
    let open = model.open.as_mut().unwrap();
    for document in &mut open.documents {
        document.metadata = JsonObject::default();
    }
    on_command(&mut model, Command::Back);
    on_command(&mut model, Command::ShowSlices);
    assert!(flat(&mut model, SIZES[0]).contains("no metadata fields"));
    assert_eq!(on_command(&mut model, Command::Open), []);
}
