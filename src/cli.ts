import { Command, CommanderError } from "commander";
import type { App } from "./app.ts";
import { applyConfigFile } from "./flags/config-file.ts";
import { addExamples } from "./flags/declare.ts";
import { calledCommands, groups } from "./commands/index.ts";
import { asksShortHelp, helpEnd, helpView, SHORT_WIDTH } from "./commands/help-view.ts";
import { commandName, mistypedOption, typedCommand, typedLine } from "./commands/typed.ts";
import { CliError, EarlyEnd, Exit, type ExitCode, reason } from "./errors.ts";
import type { OutputFlags } from "./run-end.ts";
import { VERSION } from "./version.ts";
import { startPing } from "./workflows/outputs/ping.ts";
import { prepareOutputs } from "./workflows/outputs/prepare.ts";
import { writeOutputs } from "./workflows/outputs/outputs.ts";

/** Flags of every command that say how it prints, and where to. */
type MessageFlags = OutputFlags & Omit<Parameters<App["io"]["configure"]>[0], "log">;

/** The hidden command that completion scripts call for the words that may follow. */
const COMPLETE = "__complete";

/** Runs one command line, without the program's name. Resolves with the exit code; never rejects. */
export async function main(argv: readonly string[], app: App): Promise<ExitCode> {
	const ran: { exit: ExitCode } = { exit: Exit.ok };
	let tree: Command | undefined;
	try {
		// The whole tree for help and completion; otherwise only the commands that the line names.
		const completes = argv[0] === COMPLETE;
		const everything = completes || argv.includes("help");
		const program = await programOf(app, ran, everything ? undefined : argv);
		tree = program;
		if (completes) {
			const { complete } = await import("./commands/complete.ts");
			// The words at a cursor are no command line: `--help` among them must print no help.
			ran.exit = await complete(program, argv.slice(1), app);
		} else {
			const wrong = mistypedOption(argv, typedCommand(program, argv));
			if (wrong !== undefined) throw wrong;
			await program.parseAsync([...argv], { from: "user" });
		}
	} catch (error) {
		const hint = tree !== undefined && error instanceof CommanderError ? await hintOf(error, argv, tree, app) : "";
		ran.exit = explain(error, hint, app);
		if (error instanceof CommanderError && ran.exit !== Exit.ok && tree !== undefined)
			await takeOutputs(tree, argv, app);
	} finally {
		await app.close().catch(() => undefined);
	}
	await app.io.flush();
	if (ran.exit === Exit.ok && app.io.outputFailure !== undefined) {
		app.io.err(`ragtag: ${app.io.outputFailure}`);
		ran.exit = Exit.output;
	}
	// A run has written them already, unless it ended by an error or with another code.
	ran.exit = await writeOutputs(app, ran.exit);
	await app.runEnd.onEnd?.(ran.exit);
	await app.io.flush();
	app.io.end(`exit ${ran.exit}`);
	return ran.exit;
}

/**
 * The tree of commands, with the commands that a command line may call; with all of them if it is undefined. The one that
 * runs gives `ran` its exit code.
 */
async function programOf(app: App, ran: { exit: ExitCode }, argv: readonly string[] | undefined): Promise<Command> {
	const isShort = argv !== undefined && asksShortHelp(argv);
	const program = new Command("ragtag")
		.description("Write metadata onto thousands of documents of a RAG knowledge base, and account for every row.")
		.version(VERSION, "-V, --version", "print the version")
		.option("--base-url <url>", "address of the service, with or without /api/v1 (RAGTAG_BASE_URL)")
		.option(
			"--api-key-file <path>",
			"file with the API key; - reads standard input (RAGTAG_API_KEY, RAGTAG_API_KEY_FILE)",
		)
		.option("--api-key-command <cmd>", "shell command that prints the API key (RAGTAG_API_KEY_COMMAND)")
		.option("--profile <name>", "profile of config.yaml (RAGTAG_PROFILE)")
		.option("--state-dir <dir>", "folder for recorded runs and what is known of services (RAGTAG_STATE_DIR)")
		.option("--ca-file <path>", "further certificates to trust, PEM (NODE_EXTRA_CA_CERTS)")
		.option("--no-color", "no colour (NO_COLOR, FORCE_COLOR)")
		.helpOption("-h, --help", "-h shows what is used most, --help everything")
		.exitOverride()
		.showSuggestionAfterError(false)
		.configureHelp({
			...helpView(isShort),
			helpWidth: app.io.stdoutIsTerminal ? app.io.columns : isShort ? SHORT_WIDTH : 100,
		})
		.configureOutput({
			writeOut: (text) => void app.io.out(text),
			writeErr: (text) => {
				for (const line of text.trimEnd().split("\n")) app.io.err(line);
			},
			// `explain` prints errors: it knows the command line.
			outputError: () => undefined,
		})
		.helpCommand(false)
		.hook("preAction", async (_, command) => {
			const name = commandName(command);
			const flags = command.optsWithGlobals<MessageFlags>();
			const prepared = prepareOutputs(app, name, command.args, flags);
			await prepared.catch(() => undefined);
			const { logFile: path } = flags;
			const isLogged = path !== undefined && !app.runEnd.refused.has(path);
			await app.io.configure({ ...flags, log: isLogged ? { path, begins: `ragtag ${name}` } : undefined });
			await prepared;
			await applyConfigFile(command, app);
			if (command.options.some(({ long }) => long === "--ping")) await startPing(app, command.optsWithGlobals());
		})
		.addHelpText("afterAll", ({ command }) => helpEnd(command, isShort));
	addExamples(
		program,
		"ragtag sandbox                       serve the API here, to try ragtag\nragtag manifest check tags.csv       list all problems of a manifest\nragtag docs tag tags.csv -d DATASET  write each row to its document",
	);
	for (const group of groups) {
		const called = argv === undefined ? group.commands : calledCommands(group, argv);
		const isLeaf = called.some(([word]) => word === group.name);
		const parent = isLeaf
			? program
			: program
					.command(group.name)
					.summary(group.summary)
					.description(`${group.summary.charAt(0).toUpperCase()}${group.summary.slice(1)}.`);
		for (const [word, load] of called) {
			const { summary = group.summary, description = "", examples, declare, run } = await load();
			const command = parent.command(word).summary(summary).description(description);
			declare(command);
			if (examples !== undefined) addExamples(command, examples);
			command.action(async () => {
				ran.exit = await run(command, app).catch((error: unknown) => {
					if (error instanceof EarlyEnd) return error.report();
					throw error;
				});
			});
		}
	}
	return program;
}

/**
 * Takes the outputs of a command line that could not be parsed, as far as they are known: monitoring must see a job that fails
 * for a mistyped flag. Their own faults are not reported: the mistyped line comes first.
 */
async function takeOutputs(program: Command, argv: readonly string[], app: App): Promise<void> {
	const command = typedCommand(program, argv);
	const { args, texts } = typedLine(argv, command);
	const { junit, metricsFile, report, ping } = texts;
	const known = args.slice(0, command.registeredArguments.length);
	await prepareOutputs(app, commandName(command), known, { junit, metricsFile, report }).catch(() => undefined);
	if (ping !== undefined) await startPing(app, { ping }).catch(() => undefined);
}

/** The code of a group without a command: its help was shown, and it is wrong usage. */
const HELP = "commander.help";

/** What to type instead of a line that could not be parsed. */
async function hintOf(error: CommanderError, argv: readonly string[], program: Command, app: App): Promise<string> {
	// Help and version end with 0.
	if (error.exitCode === 0 || error.code === HELP) return "";
	const { usageHint } = await import("./commands/other-words.ts");
	return await usageHint({ error, argv, program, whole: () => programOf(app, { exit: Exit.ok }, undefined) });
}

/** Prints the error of a command, and gives its exit code. @param hint for a command line that could not be parsed */
function explain(error: unknown, hint: string, { io, signal, runEnd }: App): ExitCode {
	const isParsing = error instanceof CommanderError;
	if (isParsing && error.exitCode === 0) return Exit.ok;
	if (isParsing && error.code === HELP) return Exit.usage;
	const fault = isParsing
		? { exit: Exit.usage, message: error.message.replace(/^error: /, ""), hint }
		: error instanceof CliError
			? error
			: faultOf(error, signal);
	runEnd.fail(fault);
	for (const line of [`ragtag: ${fault.message}`, fault.hint ?? []].flat().join("\n").split("\n")) io.err(line);
	if (fault.exit === Exit.internal && error instanceof Error) io.debug(error.stack ?? "");
	return fault.exit;
}

/** What an error says that is not for people: the program was stopped, or has a fault. */
function faultOf(error: unknown, { aborted, reason: why }: AbortSignal): Pick<CliError, "exit" | "message" | "hint"> {
	const stopped: unknown = why;
	if (aborted && typeof stopped === "object" && stopped !== null && "exit" in stopped) {
		const exit = Object.values(Exit).find((code) => code === stopped.exit) ?? Exit.interrupted;
		return { exit, message: "stopped before it finished; run the same command again", hint: undefined };
	}
	const hint = "Please report it with the command that you typed; --debug shows what was sent.";
	return { exit: Exit.internal, message: `a fault of the program itself: ${reason(error)}`, hint };
}
