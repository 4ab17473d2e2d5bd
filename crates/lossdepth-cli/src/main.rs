//! The program `lossdepth`.

fn main() -> std::process::ExitCode {
    lossdepth_cli::run()
}
