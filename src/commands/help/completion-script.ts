/** A place in the command line (`docs tag`, or "" for the program itself) and the words that may follow. */
export type CompletionEntry = {
	readonly path: string;
	readonly words: readonly string[];
	readonly takesFiles: boolean;
};

/** A completion script for a shell. Pure: entries in, text out. Words hold no quotes or spaces. */
export function completionScript(shell: "bash" | "zsh" | "fish", entries: readonly CompletionEntry[]): string {
	return shell === "fish" ? fish(entries) : bash(entries, shell === "zsh");
}

function bash(entries: readonly CompletionEntry[], zsh: boolean): string {
	const cases = entries.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n");
	const known = entries
		.filter(({ path }) => path !== "")
		.map(({ path }) => `"${path}"`)
		.join("|");
	return `${zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : ""}# Completion of ragtag. Load it with: source <(ragtag completion ${zsh ? "zsh" : "bash"})
_ragtag() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" next words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in
      ${known}) path="$next" ;;
    esac
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=( $(compgen -f -- "$cur") )
}
complete -o filenames -F _ragtag ragtag
`;
}

function fish(entries: readonly CompletionEntry[]): string {
	const known = entries
		.filter(({ path }) => path !== "")
		.map(({ path }) => `"${path}"`)
		.join(" ");
	const lines = entries.flatMap(({ path, words, takesFiles }) =>
		words.map((word) => {
			const condition = `-n '__ragtag_at "${path}"'`;
			const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`;
			return `complete -c ragtag ${takesFiles ? "" : "-f "}${condition} ${what}`;
		}),
	);
	return `# Completion of ragtag. Keep it in ~/.config/fish/completions/ragtag.fish
function __ragtag_at
  set -l path ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$path $word")
    contains -- "$next" ${known}; and set path "$next"
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}
