//! Instructions of one act: this program starts itself under valgrind's callgrind, with one pass over the acts and with two. The
//! difference is what the second pass took, without making and loading what is asked.

use std::process::Command;

/// Whether instructions can be counted here; says so if not.
pub(crate) fn can_be_counted() -> bool {
    let installed = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !installed {
        println!("valgrind is not installed, so instructions cannot be counted; install it with your package manager");
    }
    installed
}

/// Of one act. The child is told in how many passes it acts, and prints how many acts one pass has.
pub(crate) fn of_one_act(child: &str, arguments: &[&str]) -> Result<f64, String> {
    let [(one, acts), (two, _)] = [collected(child, arguments, 1)?, collected(child, arguments, 2)?];
    Ok((two - one) / acts)
}

/// Of a whole process, with the number of acts in a pass.
fn collected(child: &str, arguments: &[&str], passes: usize) -> Result<(f64, f64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.arg(child).args(arguments).arg(passes.to_string());
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    let acts = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    count.zip(acts).ok_or_else(|| format!("callgrind gave no count:\n{said}"))
}
