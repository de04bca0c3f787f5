//! Finds untrusted certificates among the causes of a failed call, and describes them with a
//! remedy.

use rustls::CertificateError;
use std::error::Error;
use std::io;

/// The problem with a server's certificate, if that is why a call failed.
pub(super) fn distrusted<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
            return Some(why);
        }
        // An I/O error's source is that of the error that it wraps, which would be skipped.
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match held {
            Some(held) => Some(held as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

/// The failure in words, with the remedy.
pub(super) fn describe(place: &str, why: &CertificateError) -> String {
    let (what, remedy) = match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
            "it has expired".to_owned(),
            "check this machine's clock; if it is right, whoever runs the server must renew it",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
            "it is not valid yet".to_owned(),
            "check this machine's clock",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ("it is for another name".to_owned(), "check base_url")
        }
        CertificateError::Revoked => (
            "it was revoked".to_owned(),
            "whoever runs the server must replace it",
        ),
        CertificateError::UnknownIssuer => (
            "its issuer is not trusted here".to_owned(),
            "if the server, or the proxy on the way to it, is yours, add its certificate to the \
             system's, or name its file \
             in SSL_CERT_FILE",
        ),
        other => (
            other.to_string(),
            "check base_url; if the server is yours, renew its certificate",
        ),
    };
    format!("the certificate of {place} is not trusted: {what}; {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found_however_deep_it_is_wrapped() {
        let rustls = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let wrapped = io::Error::other(io::Error::other(rustls));
        assert_eq!(distrusted(&wrapped), Some(&CertificateError::Expired));
        let other = io::Error::other(rustls::Error::DecryptError);
        assert_eq!(distrusted(&other), None);
    }

    #[test]
    fn every_reason_comes_with_a_remedy() {
        for (why, part) in [
            (CertificateError::Expired, "clock"),
            (CertificateError::NotValidForName, "base_url"),
            (CertificateError::UnknownIssuer, "SSL_CERT_FILE"),
            (CertificateError::BadSignature, "base_url"),
        ] {
            let told = describe("gw.example.com", &why);
            assert!(
                told.starts_with("the certificate of gw.example.com is not trusted: ")
                    && told.contains(part),
                "{told}"
            );
        }
    }
}
