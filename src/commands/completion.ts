import { Argument } from "commander";
import { Exit } from "../errors.ts";
import { declare } from "../flags/declare.ts";

/** A script holds no words of its own: at each Tab it asks `ragtag __complete`, so that it stays right after an update. */
export const completionCommand = declare({
	description: "Prints a completion script: commands, options, choices, runs, profiles and names of datasets.",
	examples:
		"source <(ragtag completion bash)\nsource <(ragtag completion zsh)\nragtag completion fish > ~/.config/fish/completions/ragtag.fish",
	arguments: { "<shell>": new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]) },
	run: async ({ shell }, { io }) => {
		await io.out(shell === "bash" ? bash : shell === "zsh" ? zsh : fish);
		return Exit.ok;
	},
});

// Inside quotes, bash inserts a candidate as it is: one with a character that ends the quotes or works in them is not offered.
// A colon and an equals sign divide words for bash. The words of the line are put together again, and of a candidate
// bash takes what follows the last of them.
const bash = `# Completion of ragtag. Load it with: source <(ragtag completion bash)
_ragtag() {
  local words=() i line value rest quoted current prefix
  for ((i = 1; i <= COMP_CWORD; i++)); do
    value=\${COMP_WORDS[i]}
    if ((i > 1)) && [[ $value == [=:]* || \${words[-1]} == *[=:] ]]; then
      words[-1]+=$value
    else
      words+=("$value")
    fi
  done
  current=\${words[-1]-}
  quoted=
  case $current in
    \\"* | \\'*) quoted=1 current=\${current:1} ;;
    *\\\\*) current=\${current//\\\\/} ;;
  esac
  ((\${#words[@]})) && words[-1]=$current
  prefix=
  if [[ $current == *[=:]* && $COMP_WORDBREAKS == *=* ]]; then prefix=\${current%"\${current##*[=:]}"}; fi
  COMPREPLY=()
  compopt +o default +o filenames 2>/dev/null
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "\${current#"$prefix"}") ;;
      :folders) compopt -o filenames 2>/dev/null; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "\${current#"$prefix"}") ;;
      :none) ;;
      *)
        value=\${line%%$'\\t'*}
        rest=\${value#"$prefix"}
        if [[ -z $quoted ]]; then printf -v rest %q "$rest"; elif [[ $rest == *[\\"\\'\\$\\\`\\\\!]* ]]; then continue; fi
        COMPREPLY+=("$rest")
        ;;
    esac
  done < <(ragtag __complete "\${words[@]}" 2>/dev/null)
}
complete -F _ragtag ragtag
`;

const zsh = `#compdef ragtag
# Completion of ragtag. Load it with: source <(ragtag completion zsh)
# or keep it as _ragtag in a folder of $fpath.
_ragtag() {
  local -a values descriptions
  local line value description last=:none width=0 i
  # The words up to the cursor; (Q) takes quotes away.
  for line in \${(f)"$(ragtag __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)"}; do
    case $line in
      :*) last=$line ;;
      *)
        value=\${line%%$'\\t'*}
        description=\${line#*$'\\t'}
        values+=("$value")
        descriptions+=("$description")
        (( \${#value} > width )) && width=\${#value}
        ;;
    esac
  done
  for (( i = 1; i <= \${#values}; i++ )); do
    if [[ -n $descriptions[i] ]]; then descriptions[i]="\${(r:width:)values[i]}  -- $descriptions[i]"; else descriptions[i]=$values[i]; fi
  done
  (( \${#values} )) && compadd -l -d descriptions -a values
  case $last in
    :files) compset -P '*='; _files ;;
    :folders) compset -P '*='; _files -/ ;;
  esac
}
if [[ \${funcstack[1]} == _ragtag ]]; then _ragtag "$@"; else (( $+functions[compdef] )) || { autoload -U compinit && compinit; }; compdef _ragtag ragtag; fi
`;

const fish = `# Completion of ragtag. Keep it in ~/.config/fish/completions/ragtag.fish
function __ragtag_complete
  set -l words (commandline -opc)[2..-1]
  set -l current (commandline -ct)
  set -l lines (ragtag __complete $words "$current" 2>/dev/null)
  set -l last $lines[-1]
  for line in $lines[1..-2]
    printf '%s\\n' $line
  end
  set -l prefix (string match -r -- '^--[^=]+=' "$current")
  set -l path (string replace -r -- '^--[^=]+=' '' "$current")
  switch "$last"
    case ':files'
      string replace -r -- '^' "$prefix" (__fish_complete_path "$path")
    case ':folders'
      string replace -r -- '^' "$prefix" (__fish_complete_directories "$path")
  end
end
complete -c ragtag -f -a '(__ragtag_complete)'
`;
