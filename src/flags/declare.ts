import type { Command, Option } from "commander";
import type { App } from "../app.ts";
import type { ExitCode } from "../errors.ts";
import type { RunFile } from "../run/recorded/run-file.ts";
import type { RunFlags } from "./flags.ts";
import type { PayloadFlags } from "./payload-options.ts";
import { checkRules } from "./refuse.ts";

/** Resumes a recorded run. `flags` are those of its record that change what is sent, and those of this call, which win. */
export type Resume = (file: RunFile, flags: PayloadFlags & RunFlags, app: App) => Promise<ExitCode>;

/** A command of the tree. */
export type Declared = {
	readonly summary: string;
	readonly description?: string;
	/** a line each */
	readonly examples?: string;
	/** adds its arguments and options */
	readonly declare: (command: Command, app: App) => void;
	/** runs it with what a line has given the command */
	readonly run: (command: Command, app: App) => Promise<ExitCode>;
	readonly resume?: Resume | undefined;
};

/**
 * A command whose `run` takes the options of a line, those of the program, and each argument as a member of its name. The rules
 * of its options are checked first.
 */
export function declare<Options extends object>(
	own: Omit<Declared, "run"> & {
		readonly run: (options: Options, app: App, command: Command) => Promise<ExitCode>;
	},
): Declared {
	const run: Declared["run"] = (command, app) => {
		checkRules(command);
		const values: readonly unknown[] = command.processedArgs;
		const named = Object.fromEntries(command.registeredArguments.map((each, at) => [each.name(), values[at]]));
		return own.run({ ...command.optsWithGlobals<Options>(), ...named }, app, command);
	};
	return { ...own, run };
}

/** The options of a command that were typed, whatever their values. */
export function typedOptions(command: Command): readonly Option[] {
	return command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
}

const EXAMPLES = new WeakMap<Command, string>();

/** Adds examples, a line each, which a help shows first. */
export function addExamples(command: Command, examples: string): Command {
	EXAMPLES.set(command, examples);
	return command.addHelpText("before", `Examples:\n${examples.replaceAll(/^/gm, "  ")}\n`);
}

export function examplesOf(command: Command): readonly string[] {
	return EXAMPLES.get(command)?.split("\n") ?? [];
}
