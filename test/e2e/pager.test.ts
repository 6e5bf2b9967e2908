import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shell, startOnTerminal } from "../support/program.ts";
import { folder } from "../support/service.ts";

const PAGE = new URL("../../docs/limits.md", import.meta.url);

/** What a command prints on a terminal, without the carriage returns that the terminal adds. */
async function onTerminal(line: string, env: Record<string, string>): Promise<string> {
	const { stdout } = await startOnTerminal(`stty cols 80; ${line}; echo "exit $?"`, { LANG: "C.UTF-8", ...env }).ended;
	return stdout.replaceAll("\r\n", "\n");
}

describe("a page of the documentation", () => {
	it("goes through the pager on a terminal, rendered, with the settings of less that git uses", async () => {
		const kept = join(await folder(), "kept");
		const PAGER = `{ echo "LESS=$LESS"; cat; } > ${kept}`;
		expect(await onTerminal("$RAGTAG help limits", { PAGER })).toBe("exit 0\n");
		const text = await readFile(kept, "utf8");
		expect(text.slice(0, 19)).toBe("LESS=FRX\n\u001b[1mLimits");
		expect(text).not.toContain("|---");

		expect(await onTerminal("$RAGTAG help limits", { PAGER, LESS: "S" })).toBe("exit 0\n");
		expect(await readFile(kept, "utf8")).toMatch(/^LESS=S\n/);
	});

	it("is readable without the pager: with cat, with an empty PAGER, and on a terminal that can't move its cursor", async () => {
		const text = await onTerminal("$RAGTAG help limits --no-color", { PAGER: "cat" });
		expect(text).toMatch(/^# Limits\n[^|]*\nexit 0\n$/s);
		expect(await onTerminal("$RAGTAG help limits --no-color", { PAGER: "" })).toBe(text);
		expect(await onTerminal("$RAGTAG help limits", { TERM: "dumb" })).toBe(text);
	});

	it("a pager that ends at once, as with q, is no failure", async () => {
		expect(await onTerminal("$RAGTAG help manifests", { PAGER: "true" })).toBe("exit 0\n");
		expect(await onTerminal("$RAGTAG help manifests", { PAGER: "head -n 1 > /dev/null; false" })).toBe("exit 0\n");
	});

	it("a pager that is not there is one note, and the page is printed", async () => {
		const text = await onTerminal("$RAGTAG help limits --no-color", { PAGER: "no-such-pager 2> /dev/null" });
		expect(text).toMatch(/^The pager no-such-pager 2> \/dev\/null \(PAGER\) could not be started; .*\n# Limits\n/);
		expect(text).toMatch(/\nexit 0\n$/);
	});

	it("Ctrl-C is for the pager: less uses it to stop a search, and the page stays", async () => {
		const PAGER = "trap 'echo interrupted' INT; echo ready; sleep 5 < /dev/null; cat > /dev/null";
		const running = startOnTerminal('$RAGTAG help limits; echo "exit $?"', { PAGER });
		await running.until((out) => out.includes("ready"));
		running.child.stdin?.write("\u0003");
		const { stdout } = await running.ended;
		expect(stdout).toContain("interrupted");
		expect(stdout).toContain("exit 0");
		expect(stdout).not.toContain("SIGINT");
	});

	it("in a pipe it is the Markdown, whatever the pager is", async () => {
		const { stdout } = await shell("$RAGTAG help limits | cat", { PAGER: "no-such-pager" });
		expect(stdout).toBe(await readFile(PAGE, "utf8"));
	});
});
