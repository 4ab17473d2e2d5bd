/* What has to be C: the routine that R calls when it loads the package, and the look for Ctrl-C, whose jump must not
   cross a frame of Rust. */
#include <R.h>
#include <Rinternals.h>

void R_init_lossdepth_extendr(void *dll);

void R_init_lossdepth(void *dll) { R_init_lossdepth_extendr(dll); }

static void look(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

/* Whether the user wants to stop. To be called from the thread of R. */
int lossdepth_interrupted(void) { return R_ToplevelExec(look, NULL) == FALSE; }
