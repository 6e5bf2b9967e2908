import { type Command, InvalidArgumentError } from "commander";
import { parsePattern } from "../../files/path-pattern.ts";
import { needs } from "../../flags/refuse.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import { KEY_FACTS, type KeyFact, type Sources } from "./file-values.ts";

/** Flags that say which keys come from files. */
export type SourceFlags = {
	readonly facts?: readonly KeyFact[] | undefined;
	readonly pattern?: string | undefined;
	readonly strict?: boolean | undefined;
	readonly keys?: readonly string[] | undefined;
};

/** Options of commands that take keys from files. */
export function addSourceOptions(command: Command): Command {
	return command
		.option("--facts <list>", `facts that become keys: ${KEY_FACTS.join(",")}`, parseFacts)
		.option("--pattern <text>", "keys from the path, as '{category}/{year:number}_{title}.pdf'", parseNonEmpty)
		.option("--strict", "a path that does not match --pattern is a problem")
		.option("--keys <list>", "only these keys", (text) => text.split(",").filter((key) => key !== ""));
}

/** @throws CliError exit 2 for flags that mean nothing without others */
export function checkSources({ strict, pattern }: SourceFlags): void {
	needs("--pattern", pattern !== undefined, { "--strict": strict });
}

/** @throws CliError exit 2 for a pattern that is none */
export function sourcesOf({ facts = [], pattern, strict = false, keys }: SourceFlags): Sources {
	return {
		facts,
		pattern: pattern === undefined ? undefined : parsePattern(pattern),
		isStrict: strict,
		keys: keys && new Set(keys),
	};
}

function parseFacts(text: string): KeyFact[] {
	return text.split(",").map((word) => {
		const fact = KEY_FACTS.find((each) => each === word);
		if (fact !== undefined) return fact;
		throw new InvalidArgumentError(`"${word}" is no fact; facts are ${KEY_FACTS.join(", ")}.`);
	});
}
