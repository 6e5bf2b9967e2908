import { type Command, InvalidArgumentError } from "commander";
import type { App } from "../app.ts";
import { usageError } from "../errors.ts";
import type { PayloadFlags } from "./payload-options.ts";
import { collectPair } from "./values.ts";

/**
 * Gives a command the options of the file that `--config` names, and says which. The command line wins: a flag for its member, a
 * typed `--map` or `--set` for its column or key. Members that the command has no flag for are left out.
 *
 * @throws CliError exit 2
 */
export async function applyConfigFile(command: Command, app: Pick<App, "io" | "optionsFile">): Promise<void> {
	const path: unknown = command.getOptionValue("config");
	if (typeof path !== "string") return;
	const taken: string[] = [];
	for (const [member, texts] of await app.optionsFile(path)) {
		try {
			if (apply(command, member, texts)) taken.push(member);
		} catch (error) {
			if (!(error instanceof InvalidArgumentError)) throw error;
			throw usageError(`${path}: ${member}: ${error.message} Nothing was sent.`);
		}
	}
	app.io.note(`From ${path}: ${taken.length === 0 ? "nothing that this command takes" : taken.join(", ")}`);
}

/** @returns whether anything of the member holds */
function apply(command: Command, member: string, texts: readonly string[]): boolean {
	const set = (name: string, value: unknown): true => {
		command.setOptionValueWithSource(name, value, "config");
		return true;
	};
	const flag = `--${member === "types" ? "map" : member.replaceAll("_", "-")}`;
	const option = command.options.find(({ long }) => long === flag);
	if (option === undefined || texts.length === 0) return false;
	const typed = command.opts<PayloadFlags>();
	if (member === "types") return set("types", pairsOf(texts));
	if (member === "map") {
		const own = typed.map ?? [];
		const others = pairsOf(texts).filter(([column]) => own.every(([known]) => known !== column));
		return others.length > 0 && set("map", [...own, ...others]);
	}
	// The last value of a key counts.
	if (member === "set") return set("set", [...texts, ...(typed.set ?? [])]);
	const name = option.attributeName();
	if (command.getOptionValueSource(name) === "cli") return false;
	let value: unknown;
	for (const text of texts) value = option.parseArg === undefined ? text : option.parseArg(text, value);
	return set(name, option.isBoolean() ? true : value);
}

function pairsOf(texts: readonly string[]): (readonly [string, string])[] {
	return texts.flatMap((text) => collectPair(text));
}
