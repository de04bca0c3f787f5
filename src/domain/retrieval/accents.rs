//! Case folding and removal of accents.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The characters of `text` in lowercase, decomposed (Unicode NFD) and without combining marks.
///
/// Exact for Latin, Greek, Cyrillic, kana and mathematical symbols; other scripts keep their marks.
pub(super) fn fold(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .flat_map(char::to_lowercase)
        .filter(|c| !is_mark(*c))
        .map(|c| {
            if c.is_ascii() {
                c
            } else {
                BASES.get(&c).copied().unwrap_or(c)
            }
        })
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{1ab0}'..='\u{1ace}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20f0}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// The base character of each accented character.
static BASES: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let groups = ACCENTED.split(' ').filter_map(|group| {
        let mut characters = group.chars();
        Some((characters.next()?, characters))
    });
    groups
        .flat_map(|(base, accented)| accented.map(move |c| (c, base)))
        .collect()
});

/// Lowercase characters with a canonical decomposition, each group after their common base (Unicode
/// 15). Characters that normalization would replace are escaped.
#[rustfmt::skip]
const ACCENTED: &str = ";\u{37e} <≮ =≠ >≯ \u{60}\u{1fef} aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ \
                        cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ \
                        iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ \
                        oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ \
                        uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ \
                        ¨΅῁῭\u{1fee} ´\u{1ffd} ·\u{387} æǣǽ øǿ ſẛ ʒǯ ʹ\u{374} \
                        αάἀἁἂἃἄἅἆἇὰ\u{1f71}ᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲ\u{1f73} \
                        ηήἠἡἢἣἤἥἦἧὴ\u{1f75}ᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ \
                        ιΐίϊἰἱἲἳἴἵἶἷὶ\u{1f77}\u{1fbe}ῐῑῒ\u{1fd3}ῖῗ οόὀὁὂὃὄὅὸ\u{1f79} ρῤῥ \
                        υΰϋύὐὑὒὓὔὕὖὗὺ\u{1f7b}ῠῡῢ\u{1fe3}ῦῧ ωώὠὡὢὣὤὥὦὧὼ\u{1f7d}ᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ \
                        аӑӓ гѓ еѐёӗ жӂӝ зӟ ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ії ѵѷ әӛ өӫ ᾿῍῎῏ ῾῝῞῟ \
                        \u{2002}\u{2000} \u{2003}\u{2001} ←↚ →↛ ↔↮ ⇐⇍ ⇒⇏ ⇔⇎ ∃∄ ∈∉ ∋∌ ∣∤ ∥∦ ∼≁ ≃≄ \
                        ≅≇ ≈≉ ≍≭ ≡≢ ≤≰ ≥≱ ≲≴ ≳≵ ≶≸ ≷≹ ≺⊀ ≻⊁ ≼⋠ ≽⋡ ⊂⊄ ⊃⊅ ⊆⊈ ⊇⊉ ⊑⋢ ⊒⋣ ⊢⊬ ⊨⊭ ⊩⊮ ⊫⊯ ⊲⋪ \
                        ⊳⋫ ⊴⋬ ⊵⋭ 〈\u{2329} 〉\u{232a} うゔ かが きぎ くぐ けげ こご さざ しじ すず せぜ そぞ ただ ちぢ つづ てで \
                        とど はばぱ ひびぴ ふぶぷ へべぺ ほぼぽ ゝゞ ウヴ カガ キギ クグ ケゲ コゴ サザ シジ スズ セゼ ソゾ タダ チヂ ツヅ テデ トド \
                        ハバパ ヒビピ フブプ ヘベペ ホボポ ワヷ ヰヸ ヱヹ ヲヺ ヽヾ";

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        fold(text).collect()
    }

    #[test]
    fn accents_go_and_letters_stay() {
        for (text, expected) in [
            ("Café NAÏVE Ångström", "cafe naive angstrom"),
            ("e\u{301}a\u{30a}", "ea"),
            ("İstanbul ıI", "istanbul ıi"),
            ("Ø ł đ ß æ", "ø ł đ ß æ"),
            ("Ώ ΐ Й ё", "ω ι и е"),
            ("\u{212b} \u{2126} \u{212a}", "a ω k"),
            ("ガが ≠ ∉", "カか = ∈"),
            ("µ ﬁ ² Ⅳ", "µ ﬁ ² ⅳ"),
            ("각 漢", "각 漢"),
        ] {
            assert_eq!(folded(text), expected);
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for c in (0..0x1_0000).filter_map(char::from_u32) {
            let once = folded(&c.to_string());
            assert_eq!(folded(&once), once, "{c:?}");
        }
    }
}
