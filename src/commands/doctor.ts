import type { Command } from "commander";
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
import type { Done } from "../flags/declare.ts";
import { attempt, decisiveFailure, failed, nextCommand, skipped } from "./doctor/check-results.ts";
import { configure, type DoctorFlags, shownSettings, STORAGE } from "./doctor/configuration.ts";
import { type Findings, type FirstAnswer, type ServiceContext, serviceChecks } from "./doctor/service.ts";
import { networkChecks } from "./doctor/network.ts";
import { addServiceOptions } from "../flags/flags.ts";
import { printVersionLine } from "../workflows/version-line.ts";
import { parseNonEmpty } from "../flags/values.ts";

/** The names of all checks, in the order of the report. */
const CHECK_NAMES = [
	"proxy",
	"dns",
	"tls",
	"service",
	"key",
	"clock",
	"flavour",
	"dataset",
	"right",
	"values",
	"latency",
	"rate",
];

/** Declares the interface of `doctor`. What it does is in `doctor`. */
export function doctorCommand(program: Command, app: App, done: Done, run = doctor): void {
	const command = program
		.command("doctor")
		.summary("check the connection to the service, the key and its rights, and say what to do")
		.description(
			"Checks settings, names, TLS, proxy, key, clock, flavour, rights, values, latency and the folder of runs. Changes nothing.",
		)
		.option(
			"-d, --dataset <id or name>",
			"the dataset in which rights and values are checked (default: the first)",
			parseNonEmpty,
		)
		.option("--json", "results as JSON lines")
		.addHelpText("before", "Examples:\n  ragtag doctor\n  ragtag doctor -d DATASET --json\n");
	addServiceOptions(command).action(async () => done(await run(command.optsWithGlobals<DoctorFlags>(), app)));
}

export async function doctor(flags: DoctorFlags, app: App): Promise<ExitCode> {
	if (flags.json === true) await printVersionLine(app);
	const read = await attempt(() => app.settings(flags));
	if ("error" in read) {
		// No setting can be shown or checked, but a script still gets the last line.
		await printer(flags, app, (text) => text).end([], {}, read.error.exit, "ragtag help environment");
		throw read.error;
	}
	const settings = read.value;
	const configuration = await configure(settings, flags, app);
	const { key, reach, route } = configuration;
	// A text may repeat a part of the key from an answer or a setting, so parts are masked, too.
	const redact = key === undefined ? (text: string): string => text : redactor(key);
	const print = printer(flags, app, redact);
	await print.settings(shownSettings(settings, flags, route));

	const checks: Check[] = [];
	const add = async (found: Iterable<Check> | AsyncIterable<Check>): Promise<void> => {
		for await (const check of found) {
			checks.push(check);
			await print.check(check);
		}
	};
	const findings: Findings = {};
	await add(configuration.checks);
	app.monitor.enter("checking", "the way to the service");
	if (reach !== undefined && route !== undefined) await add(networkChecks(reach, route, configuration.isTrustKnown));
	// An exit of 2 means that no request was made. The folder of runs does not matter to the service.
	const isBroken = (check: Check): boolean => check.status === "failed" && check.name !== STORAGE;
	if (!checks.some(isBroken)) await add(askService({ settings, flags, app, findings }));
	const broken = checks.find(isBroken)?.name ?? "service";
	const missing = CHECK_NAMES.filter((name) => !checks.some((check) => check.name === name));
	const why = `not checked, because "${broken}" failed`;
	if (missing.length > 0) await print.missing(missing, why);
	checks.push(...missing.map((name) => skipped(name, why)));

	const failure = decisiveFailure(checks);
	const exit = failure?.exit ?? Exit.ok;
	const next = redact(nextCommand(failure?.check, findings.dataset, flags));
	await print.end(checks, findings, exit, next);
	if (failure === undefined) return Exit.ok;
	const { name, text, hint } = failure.check;
	const advice = hint === undefined ? "" : `${redact(hint)} `;
	throw new CliError(redact(`${checksText(checks)}; ${name}: ${text}`), { exit, hint: `${advice}Then type: ${next}` });
}

/** The checks that need the service, in a session of their own. */
async function* askService(
	context: Pick<ServiceContext, "settings" | "flags" | "app" | "findings">,
): AsyncGenerator<Check, void, undefined> {
	const { settings, flags, app } = context;
	let firstAnswer: FirstAnswer | undefined;
	const onExchange = ({ status, date }: Exchange): void => {
		if (status !== undefined) firstAnswer ??= { date: date(), at: Date.now() };
	};
	const { rate, timeout, flavour } = flags;
	const connected = await attempt(() => app.connect(settings, { rate, timeout, flavour, onExchange }));
	if ("error" in connected) return yield failed("flavour", connected.error);
	const session = connected.value;
	try {
		yield* serviceChecks({ ...context, session, firstAnswer: () => firstAnswer });
	} finally {
		await session.close();
	}
}

type Printer = {
	settings(shown: readonly ShownSetting[]): Promise<void>;
	/** prints a check at once: the next one may take a while */
	check(check: Check): Promise<void>;
	/** prints the checks that could not be made, for one reason */
	missing(names: readonly string[], why: string): Promise<void>;
	end(checks: readonly Check[], findings: Findings, exit: ExitCode, next: string): Promise<void>;
};

function printer(flags: DoctorFlags, { io }: App, redact: (text: string) => string): Printer {
	const masked = (check: Check): Check => ({
		...check,
		text: redact(check.text),
		hint: check.hint === undefined ? undefined : redact(check.hint),
	});
	const safe = (setting: ShownSetting): ShownSetting =>
		typeof setting.value === "string" ? { ...setting, value: redact(setting.value) } : setting;
	if (flags.json === true) {
		return {
			settings: async (shown) => {
				for (const setting of shown) await io.out(settingLine(safe(setting)));
			},
			check: (check) => io.out(checkLine(masked(check))),
			missing: async (names, why) => {
				for (const name of names) await io.out(checkLine(skipped(name, why)));
			},
			end: (_checks, { recognition, latency, safeRate }, exit, next) => {
				const rounded = latency === undefined ? null : Math.round(latency * 10) / 10;
				const flavour = recognition?.flavour.name ?? null;
				return io.out(diagnosisLine({ flavour, latency: rounded, safeRate: safeRate ?? null, exit, next }));
			},
		};
	}
	const width = io.stdoutIsTerminal ? io.columns : Number.POSITIVE_INFINITY;
	return {
		settings: async (shown) => {
			await io.print(`${io.style.bold("Settings")}\n`);
			for (const setting of shown) await io.print(settingText(safe(setting), io.style));
			await io.print(`\n${io.style.bold("Checks")}\n`);
		},
		check: (check) => io.print(checkText(masked(check), io.style, width)),
		// One line for all: a line for each would hide the one that failed.
		missing: (names, why) => io.print(checkText(skipped("others", `${why}: ${names.join(", ")}`), io.style, width)),
		end: async (checks, _findings, exit, next) => {
			// A failure's last line is on standard error, with the reason.
			if (exit === Exit.ok) await io.print(`\n${checksText(checks)}\n${io.style.bold("Next:")} ${next}\n`);
		},
	};
}
