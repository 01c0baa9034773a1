//! `seqfeed completions` and `seqfeed manual`.

use std::fs;
use std::process::Command;

use crate::program::run;

const COMMANDS: [&str; 11] = [
    "feed",
    "convert",
    "copy",
    "info",
    "show",
    "check",
    "describe",
    "plan",
    "kaldi",
    "completions",
    "manual",
];

#[test]
fn every_shell_learns_commands_options_choices_and_tools() {
    let here = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(here.path(), &["completions", shell]);
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
        let script = String::from_utf8(output.stdout).unwrap();
        for word in COMMANDS.iter().chain(&["batch-size", "allow-lossy", "copy-feats"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // Elvish and PowerShell are not told the values of options.
        let values = ["bash", "zsh", "fish"].contains(&shell);
        assert!(!values || script.contains("concatenated"), "{shell}");
    }
    let output = run(here.path(), &["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Bash itself completes.
#[test]
fn bash_completes() {
    let here = tempfile::tempdir().unwrap();
    let script = run(here.path(), &["completions", "bash"]).stdout;
    fs::write(here.path().join("seqfeed.bash"), script).unwrap();
    let complete = |words: &str| {
        let count = words.split(' ').count();
        let last = words.rsplit(' ').next().unwrap();
        let before = words.split(' ').nth(count - 2).unwrap();
        let program = format!(
            "source ./seqfeed.bash; COMP_WORDS=({}); COMP_CWORD={}; _seqfeed seqfeed '{last}' '{before}'; \
             echo \"${{COMPREPLY[@]}}\"",
            words.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            count - 1
        );
        let output = Command::new("bash").args(["-c", &program]).current_dir(here.path()).output();
        let output = output.unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("seqfeed desc"), "describe");
    assert_eq!(complete("seqfeed feed --batch-u"), "--batch-unit");
    assert_eq!(complete("seqfeed feed --order s"), "shuffle sequential");
    assert_eq!(complete("seqfeed kaldi copy-feats-"), "copy-feats-to-htk");
}

#[test]
fn every_command_has_a_man_page() {
    let here = tempfile::tempdir().unwrap();
    let output = run(here.path(), &["manual", "a/man1"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, format!("{} pages written in a/man1\n", COMMANDS.len() + 1));
    let directory = here.path().join("a/man1");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), COMMANDS.len() + 1);
    for command in COMMANDS {
        let page = fs::read_to_string(directory.join(format!("seqfeed-{command}.1"))).unwrap();
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"EXIT STATUS\""]
        {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{command}: {section}\n{page}");
        }
        let start = format!(".TH SEQFEED-{} 1", command.to_uppercase());
        assert!(page.contains(&start), "{command}: {page}");
        assert!(page.contains(&format!("seqfeed {command} ")), "{command}: {page}");
    }
    let all = fs::read_to_string(directory.join("seqfeed.1")).unwrap();
    assert!(all.contains("seqfeed\\-feed(1)") && !all.contains("help(1)"), "{all}");
    let kaldi = fs::read_to_string(directory.join("seqfeed-kaldi.1")).unwrap();
    assert!(kaldi.contains("\\fBcompute\\-cmvn\\-stats\\fR"), "{kaldi}");
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("file"), "").unwrap();
    let output = run(here.path(), &["manual", "file"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("making the directory file"), "{errors}");
}
