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
} from "../report/checks.ts";
import { redactor } from "../text/redactor.ts";
import { declare } from "../flags/declare.ts";
import { checksOf, type Doctor, type DoctorFlags, isBroken, nextCommand, skipped } from "./doctor/checks.ts";
import { LOCAL, shownSettings } from "./doctor/local.ts";
import { STAGES } from "./doctor/service.ts";
import { datasetOption, JSON_LINES, SERVICE } from "../flags/flags.ts";

export const doctorCommand = declare({
	description:
		"Checks settings, names, TLS, proxy, key, clock, flavour, rights, latency and the folder of runs. Changes nothing.",
	examples: "ragtag doctor\nragtag doctor -d DATASET --json",
	options: {
		...SERVICE,
		dataset: datasetOption("the dataset in which rights are checked (default: the first)"),
		...JSON_LINES,
	},
	run: doctor,
});

async function doctor(flags: DoctorFlags, app: App): Promise<ExitCode> {
	const { json = false } = flags;
	const { io } = app;
	if (json) await printVersionLine(app);
	const settings = await app.settings(flags).catch(async (error: unknown) => {
		// No setting can be shown or checked, but a script still gets the last line.
		if (json && error instanceof CliError) await io.out(diagnosisLine({}, error.exit, "ragtag help environment"));
		throw error;
	});
	const found: Doctor = { app, settings, flags };
	const local: Check[] = [];
	for await (const check of checksOf(LOCAL, found)) local.push(check);
	// A text may repeat a part of the key from an answer or a setting, so parts are masked, too.
	const redact = found.key === undefined ? (text: string): string => text : redactor(found.key);
	const heading = async (text: string): Promise<void> => (json ? undefined : io.print(`${io.style.bold(text)}\n`));
	await heading("Settings");
	for (const { value, ...setting } of shownSettings(settings, flags, found.route)) {
		const safe = { ...setting, value: typeof value === "string" ? redact(value) : value };
		await (json ? io.out(settingLine(safe)) : io.print(settingText(safe, io.style)));
	}
	if (!json) await io.print("\n");
	await heading("Checks");
	const width = io.stdoutIsTerminal ? io.columns : Number.POSITIVE_INFINITY;
	const print = ({ text, hint, ...check }: Check): Promise<void> => {
		const masked = { ...check, text: redact(text), hint: hint === undefined ? undefined : redact(hint) };
		return json ? io.out(checkLine(masked)) : io.print(checkText(masked, io.style, width));
	};

	const checks: Check[] = [];
	// Each is printed at once, as the next one may take a while.
	const add = async (more: Iterable<Check> | AsyncIterable<Check>): Promise<void> => {
		for await (const check of more) {
			checks.push(check);
			await print(check);
		}
	};
	await add(local);
	app.monitor.enter("checking", "the way to the service");
	try {
		// An exit of 2 means that no request was made.
		for (const steps of STAGES) if (!checks.some(isBroken)) await add(checksOf(steps, found));
	} finally {
		await found.session?.close();
	}
	const why = `not checked, because "${checks.find(isBroken)?.name ?? "service"}" failed`;
	const all = new Set(["proxy", ...STAGES.flat().map(({ name }) => name)]);
	const names = [...all].filter((name) => !checks.some((check) => check.name === name));
	const missing = names.map((name) => ({ name, ...skipped(why) }));
	if (json) await add(missing);
	else if (missing.length > 0) {
		// For people one line: a line for each would hide the one that failed.
		await print({ name: "others", ...skipped(`${why}: ${names.join(", ")}`) });
		checks.push(...missing);
	}

	// The exit code and the last line are about the first failure that stops the others.
	const failure = checks.find(isBroken) ?? checks.find(({ status }) => status === "failed");
	const exit = failure === undefined ? Exit.ok : (failure.exit ?? Exit.failedRows);
	const next = redact(nextCommand(failure, found.dataset, flags));
	if (json) await io.out(diagnosisLine(found, exit, next));
	if (failure === undefined) {
		if (!json) await io.print(`\n${checksText(checks)}\n${io.style.bold("Next:")} ${next}\n`);
		return Exit.ok;
	}
	// A failure's last line is on standard error, with the reason.
	const advice = failure.hint === undefined ? "" : `${redact(failure.hint)} `;
	const text = redact(`${checksText(checks)}; ${failure.name}: ${failure.text}`);
	throw new CliError(text, { exit, hint: `${advice}Then type: ${next}` });
}
