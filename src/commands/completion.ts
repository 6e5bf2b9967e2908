import { Argument, type Command } from "commander";
import type { App } from "../app.ts";
import { Exit } from "../errors.ts";
import type { Done } from "../flags/declare.ts";
import { helpTopics } from "./help.ts";

/** Declares `completion`: a script made from the program's own tree, so that it can't name what is not there. */
export function completionCommand(program: Command, { io }: App, done: Done): void {
	program
		.command("completion")
		.summary("print a completion script for bash, zsh or fish")
		.description("Prints a completion script.")
		.addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
		.addHelpText(
			"before",
			"Examples:\n  source <(ragtag completion bash)\n  ragtag completion fish > ~/.config/fish/completions/ragtag.fish\n",
		)
		.action(async (shell: "bash" | "zsh" | "fish") => {
			await io.out(completionScript(shell, entriesOf(program)));
			done(Exit.ok);
		});
}

/** Every command of the tree with the words that may follow it. */
function entriesOf(program: Command): CompletionEntry[] {
	const global = program.options.flatMap(({ long }) => (long ? [long] : []));
	const walk = (command: Command, path: readonly string[]): CompletionEntry[] => {
		const own = command.options.flatMap(({ long }) => (long ? [long] : []));
		const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
		const children = command.commands.map((child) => child.name());
		const topics = path.join(" ") === "help" ? [...program.commands.map((one) => one.name()), ...helpTopics] : [];
		const words = [
			...children,
			...choices,
			...topics,
			...own,
			...global.filter((flag) => !own.includes(flag)),
			"--help",
		];
		const here = { path: path.join(" "), words: [...new Set(words)], takesFiles: children.length === 0 };
		return [here, ...command.commands.flatMap((child) => walk(child, [...path, child.name()]))];
	};
	return walk(program, []);
}

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
