//! Numbers as text, exactly as C prints them.
