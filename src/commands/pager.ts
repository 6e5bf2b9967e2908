import { spawn } from "node:child_process";
import type { App } from "../app.ts";
import { pageForTerminal } from "../report/page-text.ts";

/** The exit code of a shell that finds no such program. */
const NOT_FOUND = 127;

/** Where `less` is not installed, the shell says nothing and the page is printed. */
const DEFAULT_PAGER = `command -v less > /dev/null || exit ${NOT_FOUND}; exec less`;

/** Shows a page of the documentation on a terminal: through `$PAGER`, else `less`, as `git` and `man` do. */
export async function showPage(markdown: string, app: App): Promise<void> {
	const { io, env } = app;
	const text = pageForTerminal(markdown, io.columns, io.style);
	const named = env["PAGER"];
	const pager = named?.trim() ?? (env["TERM"] === "dumb" ? "" : DEFAULT_PAGER);
	if (pager === "" || pager === "cat") return await io.out(text);
	await io.flush();
	const isShown = await io.lend(paged(pager, io.masked(text), app));
	app.signal.throwIfAborted();
	if (isShown) return;
	if (named !== undefined) io.note(`The pager ${pager} (PAGER) could not be started; the page is printed without it.`);
	await io.out(text);
}

/** Whether the shell found the pager. A pager that ends before it has read all, as with `q`, is no failure. */
function paged(pager: string, text: string, { env, signal }: App): Promise<boolean> {
	return new Promise((resolve) => {
		// F: no pager for a page that fits, R: colours, X: the page stays on the screen. git sets the same.
		const own = { ...env, LESS: env["LESS"] ?? "FRX" };
		// Ctrl-C reaches the pager alone (`lend`); other signals end this program, and the pager with it.
		const child = spawn("/bin/sh", ["-c", pager], { env: own, signal, stdio: ["pipe", "inherit", "inherit"] });
		child.on("error", () => signal.aborted || resolve(false));
		child.on("close", (code) => resolve(code !== NOT_FOUND));
		child.stdin.on("error", () => undefined);
		child.stdin.end(text);
	});
}
