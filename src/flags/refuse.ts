import type { Command } from "commander";
import { type CliError, usageError } from "../errors.ts";

/** The error of flags that do not fit together. */
export function refused(text: string, hint?: string): CliError {
	return usageError(`${text}; nothing was sent`, hint);
}

/** An option, perhaps with its value, or an argument that means nothing without another one, or that excludes it. */
type Rule = readonly [option: string, verb: "needs" | "excludes", other: string, hint?: string];

const RULES = new WeakMap<Command, readonly Rule[]>();

/** Adds a rule for a command: `"--wait", "needs", "--parse"`. */
export function addRule(command: Command, ...rule: Rule): Command {
	RULES.set(command, [...(RULES.get(command) ?? []), rule]);
	return command;
}

/** @throws CliError exit 2 for the first rule that a line does not keep */
export function checkRules(command: Command): void {
	const { apiKeyFile, filesFrom, map } = command.optsWithGlobals<Readonly<Record<string, unknown>>>();
	if (apiKeyFile === "-" && [...command.args, filesFrom, map].includes("-")) {
		throw refused(
			"standard input can't be both the manifest and the API key",
			"Give the key in RAGTAG_API_KEY, or a path to --api-key-file.",
		);
	}
	for (const [options, verb, others, hint] of RULES.get(command) ?? []) {
		const [option, other] = [givenOf(command, options), givenOf(command, others)];
		if (option === undefined || (other === undefined) === (verb === "excludes")) continue;
		throw verb === "needs"
			? refused(`${option} needs ${others}`, hint ?? `Add ${others}, or leave ${option} out.`)
			: refused(`${option} and ${other} exclude each other`, hint ?? "Use one of them.");
	}
}

/** The first that a line or the file of `--config` has, of `--wait`, `--mode merge`, `MANIFEST` or `--dry-run or --out`. */
function givenOf(command: Command, options: string): string | undefined {
	return options.split(" or ").find((each) => {
		const argument = command.registeredArguments.findIndex((one) => one.name().toUpperCase() === each);
		if (argument !== -1) return command.args[argument] !== undefined;
		const [flag, value] = each.split(" ");
		const name = command.options.find(({ long, short }) => long === flag || short === flag)?.attributeName() ?? "";
		if (value !== undefined) return command.getOptionValue(name) === value;
		return ["cli", "config"].includes(command.getOptionValueSource(name) ?? "");
	});
}

type Asking = { readonly yes?: boolean | undefined; readonly dryRun?: boolean | undefined };

/** @throws CliError exit 2 where a question is to come that can't be asked. A dry run asks none. */
export function checkCanAsk(
	command: string,
	{ yes = false, dryRun = false }: Asking,
	isAskable: boolean,
	hint = "Add --yes if you are sure.",
): void {
	if (yes || dryRun || isAskable) return;
	throw refused(`${command} asks for confirmation, and standard input is no terminal`, hint);
}
