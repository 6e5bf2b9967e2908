import type { OutputFlags } from "../../run-end.ts";
import { OUTPUTS } from "./outputs.ts";

/**
 * The outputs of a command line that could not be parsed, as far as they are known: monitoring must see a job that
 * fails for a mistyped flag.
 *
 * @param flags the flags that the command has
 */
export function typedOutputs(argv: readonly string[], flags: ReadonlySet<string>): OutputFlags {
	const end = argv.indexOf("--");
	const words = end === -1 ? argv : argv.slice(0, end);
	let found: OutputFlags = {};
	for (const { flag, given } of OUTPUTS) {
		if (!flags.has(flag)) continue;
		for (const [at, word] of words.entries()) {
			const value =
				word === flag ? words[at + 1] : word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : undefined;
			if (value !== undefined && value !== "" && !value.startsWith("-")) found = { ...found, ...given(value) };
		}
	}
	return found;
}
