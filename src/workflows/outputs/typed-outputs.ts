import type { OutputFlags } from "../../run-end.ts";
import { OUTPUTS } from "./outputs.ts";

/**
 * The outputs of a command line that could not be parsed, as far as they are known: monitoring must see a job that
 * fails for a mistyped flag.
 *
 * @param flags the flags that the command has
 */
export function typedOutputs(argv: readonly string[], flags: ReadonlySet<string>): OutputFlags {
	let found: OutputFlags = {};
	for (const { flag, given } of OUTPUTS) {
		const value = flags.has(flag) ? typedValue(argv, flag) : undefined;
		if (value !== undefined) found = { ...found, ...given(value) };
	}
	return found;
}

/** The last value of a flag, as it was typed; undefined where there is none. */
export function typedValue(argv: readonly string[], flag: string): string | undefined {
	const end = argv.indexOf("--");
	const words = end === -1 ? argv : argv.slice(0, end);
	const values = words.flatMap((word, at) => {
		const value = word === flag ? words[at + 1] : word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : undefined;
		return value === undefined || value === "" || value.startsWith("-") ? [] : [value];
	});
	return values.at(-1);
}
