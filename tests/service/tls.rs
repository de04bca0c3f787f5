//! What is spoken with an encrypted server whose certificate is trusted.

use crate::desk::{Desk, KEY, told};
use crate::encrypted::encrypted;
use hyper::Version;

/// Which certificates are trusted is the system's business; on Linux a variable can name one more.
#[cfg(target_os = "linux")]
#[test]
fn http_2_is_spoken_where_the_server_speaks_it() {
    for (protocols, version) in [
        (
            &[b"h2".as_slice(), b"http/1.1"] as &[&[u8]],
            Version::HTTP_2,
        ),
        (&[b"http/1.1"], Version::HTTP_11),
    ] {
        let (url, certificate, versions) = encrypted(protocols);
        let desk = Desk::new("");
        let text = format!(
            "[[judge]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-6.1-terra\"\nbase_url = {:?}\n",
            url
        );
        std::fs::write(desk.path("overrule.toml"), text).unwrap();
        std::fs::write(desk.path("own.pem"), &certificate).unwrap();
        let doctor = desk
            .command(&["doctor"])
            .env("SSL_CERT_FILE", desk.path("own.pem"))
            .output()
            .unwrap();
        let said = told(&doctor);
        assert_eq!(*versions.lock().unwrap(), [version; 2], "{said}");
        assert!(!said.contains(KEY));
    }
}
