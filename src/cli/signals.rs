//! What tells a command to stop.

/// SIGINT, SIGTERM and SIGHUP, in one stream.
pub(super) fn stops() -> Result<tokio::sync::mpsc::Receiver<()>, std::io::Error> {
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let (mut stream, sender) = (signal(kind)?, sender.clone());
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    if sender.send(()).await.is_err() {
                        return;
                    }
                }
            });
        }
    }
    #[cfg(not(unix))]
    {
        let sender = sender.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).await.is_ok() {}
        });
    }
    Ok(receiver)
}
