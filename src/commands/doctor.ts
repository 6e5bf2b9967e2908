import { printVersionLine } from "../workflows/report.ts";
import type { App } from "../app.ts";
import { CliError, Exit, type ExitCode } from "../errors.ts";
import {
	type Check,
	checkLine,
	checksText,
	checkText,
	diagnosisLine,
	settingLine,
	settingText,
	type ShownSetting,
} from "../report/checks.ts";
import type { Exchange } from "../rest/types.ts";
import { redactor } from "../text/redactor.ts";
import { declare } from "../flags/declare.ts";
import {
	attempt,
	checksOf,
	type Connected,
	decisiveFailure,
	type Doctor,
	type DoctorFlags,
	failed,
	isBroken,
	nextCommand,
	skipped,
} from "./doctor/checks.ts";
import { CONFIGURATION, NETWORK, shownSettings } from "./doctor/local.ts";
import { SERVICE } from "./doctor/service.ts";
import { addServiceOptions } from "../flags/flags.ts";
import { parseNonEmpty } from "../flags/values.ts";

/** The names of the checks that are reported where they can't be made, in the order of the report. */
const CHECK_NAMES = ["proxy", ...NETWORK.flat().map(({ name }) => name), ...SERVICE.flat().map(({ name }) => name)];

export const doctorCommand = declare({
	summary: "check the connection to the service, the key and its rights, and say what to do",
	description:
		"Checks settings, names, TLS, proxy, key, clock, flavour, rights, values, latency and the folder of runs. Changes nothing.",
	examples: "ragtag doctor\nragtag doctor -d DATASET --json",
	declare: (command) => {
		command
			.option(
				"-d, --dataset <id or name>",
				"the dataset in which rights and values are checked (default: the first)",
				parseNonEmpty,
			)
			.option("--json", "results as JSON lines");
		addServiceOptions(command);
	},
	run: doctor,
});

async function doctor(flags: DoctorFlags, app: App): Promise<ExitCode> {
	if (flags.json === true) await printVersionLine(app);
	const read = await attempt(() => app.settings(flags));
	if ("error" in read) {
		// No setting can be shown or checked, but a script still gets the last line.
		await printer(flags, app, (text) => text).end([], {}, read.error.exit, "ragtag help environment");
		throw read.error;
	}
	const settings = read.value;
	const found: Doctor = { app, settings, flags };
	const configuration: Check[] = [];
	for await (const check of checksOf([CONFIGURATION], found)) configuration.push(check);
	// A text may repeat a part of the key from an answer or a setting, so parts are masked, too.
	const redact = found.key === undefined ? (text: string): string => text : redactor(found.key);
	const print = printer(flags, app, redact);
	await print.settings(shownSettings(settings, flags, found.route));

	const checks: Check[] = [];
	const add = async (more: Iterable<Check> | AsyncIterable<Check>): Promise<void> => {
		for await (const check of more) {
			checks.push(check);
			await print.check(check);
		}
	};
	await add(configuration);
	app.monitor.enter("checking", "the way to the service");
	await add(checksOf(NETWORK, found));
	// An exit of 2 means that no request was made.
	if (!checks.some(isBroken)) await add(askService(found));
	const broken = checks.find(isBroken)?.name ?? "service";
	const missing = CHECK_NAMES.filter((name) => !checks.some((check) => check.name === name));
	const why = `not checked, because "${broken}" failed`;
	if (missing.length > 0) await print.missing(missing, why);
	checks.push(...missing.map((name) => ({ name, ...skipped(why) })));

	const failure = decisiveFailure(checks);
	const exit = failure?.exit ?? Exit.ok;
	const next = redact(nextCommand(failure?.check, found.dataset, flags));
	await print.end(checks, found, exit, next);
	if (failure === undefined) return Exit.ok;
	const { name, text, hint } = failure.check;
	const advice = hint === undefined ? "" : `${redact(hint)} `;
	throw new CliError(redact(`${checksText(checks)}; ${name}: ${text}`), { exit, hint: `${advice}Then type: ${next}` });
}

/** The checks that need the service, in a session of their own. */
async function* askService(found: Doctor): AsyncGenerator<Check> {
	const { settings, flags, app } = found;
	let first: ReturnType<Connected["firstAnswer"]>;
	const onExchange = ({ status, date }: Exchange): void => {
		if (status !== undefined) first ??= { date: date(), at: Date.now() };
	};
	const { rate, timeout, flavour } = flags;
	const connected = await attempt(() => app.connect(settings, { rate, timeout, flavour, onExchange }));
	if ("error" in connected) {
		yield { name: "flavour", ...failed(connected.error) };
		return;
	}
	const session = connected.value;
	try {
		yield* checksOf(SERVICE, Object.assign(found, { session, firstAnswer: () => first }));
	} finally {
		await session.close();
	}
}

/** Prints each check at once, as the next one may take a while: as text, or with `--json` as lines for scripts. */
function printer({ json = false }: DoctorFlags, { io }: App, redact: (text: string) => string) {
	const width = io.stdoutIsTerminal ? io.columns : Number.POSITIVE_INFINITY;
	const check = (found: Check): Promise<void> => {
		const { text, hint } = found;
		const masked = { ...found, text: redact(text), hint: hint === undefined ? undefined : redact(hint) };
		return json ? io.out(checkLine(masked)) : io.print(checkText(masked, io.style, width));
	};
	return {
		check,
		settings: async (shown: readonly ShownSetting[]): Promise<void> => {
			if (!json) await io.print(`${io.style.bold("Settings")}\n`);
			for (const { value, ...setting } of shown) {
				const safe = { ...setting, value: typeof value === "string" ? redact(value) : value };
				await (json ? io.out(settingLine(safe)) : io.print(settingText(safe, io.style)));
			}
			if (!json) await io.print(`\n${io.style.bold("Checks")}\n`);
		},
		/** the checks that could not be made, for one reason */
		missing: async (names: readonly string[], why: string): Promise<void> => {
			// For people one line: a line for each would hide the one that failed.
			if (!json) return check({ name: "others", ...skipped(`${why}: ${names.join(", ")}`) });
			for (const name of names) await check({ name, ...skipped(why) });
		},
		end: async (checks: readonly Check[], found: Partial<Doctor>, exit: ExitCode, next: string): Promise<void> => {
			if (json) {
				const latency = found.latency === undefined ? null : Math.round(found.latency * 10) / 10;
				const flavour = found.recognition?.flavour.name ?? null;
				return io.out(diagnosisLine({ flavour, latency, safeRate: found.safeRate ?? null, exit, next }));
			}
			// A failure's last line is on standard error, with the reason.
			if (exit === Exit.ok) await io.print(`\n${checksText(checks)}\n${io.style.bold("Next:")} ${next}\n`);
		},
	};
}
