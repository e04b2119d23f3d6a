/**
 * Variables that a /bin/sh reads or changes: dash, bash, ksh or busybox. `OPTIND=x` ends dash, `TMOUT` ends a read, `PPID` is
 * replaced, and LC_ALL translates what the starter's line reads.
 */
const names = new Set(
  `_ ATTY CDPATH CHILD_MAX COLUMNS COPROC DIRSTACK EDITOR EMACS ENV EPOCHREALTIME EPOCHSECONDS ERRNO EUID EXECIGNORE EXECSHELL
  FCEDIT FIGNORE FPATH FUNCNAME FUNCNEST GLIBC_TUNABLES GLOBIGNORE GROUPS HISTCMD HISTCONTROL HISTFILE HISTFILESIZE HISTIGNORE
  HISTSIZE HISTTIMEFORMAT HOSTFILE HOSTNAME HOSTTYPE IFS IGNOREEOF INPUTRC INSIDE_EMACS JOB LANG LANGUAGE LINENO LINES LOCPATH
  MACHTYPE MAIL MAILCHECK MAILPATH MAPFILE NLSPATH OLDPWD OPTARG OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT PPID
  PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE_ARGUMENT READLINE_LINE READLINE_MARK READLINE_POINT
  REPLY SECONDS SHELLOPTS SHLVL SRANDOM TERM TEXTDOMAIN TEXTDOMAINDIR TIMEFORMAT TMOUT UID VISUAL`.split(/\s+/),
)

/** Families of such variables, and of those that change how any program is loaded. */
const families = /^(?:BASH|COMP|KSH|LC_|LD_|MALLOC_|_xce_)/

/** True when a shell passes the variable on exactly as it got it and does not change its own doing because of it. */
export function shellPassesOn(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !names.has(name) && !families.test(name)
}
