import type { Sandbox } from "../../src/sandbox/index.ts";
import { type Running, start } from "./program.ts";
import { KEY } from "./service.ts";

/** The sandbox as a user starts it: the built program, in a process that ends with the test. */
export type BuiltSandbox = Pick<Sandbox, "url" | "port" | "key"> & {
	readonly dataset: string;
	readonly child: Running["child"];
};

/** Starts the built sandbox on a free port. @param argv further words, such as its flavour */
export async function startBuiltSandbox(argv: readonly string[] = []): Promise<BuiltSandbox> {
	const lines = argv.includes("--documents") ? 3 : 2;
	const running = start(["sandbox", "--port", "0", "--key", KEY, ...argv]);
	// It prints the key that it takes, which no other command may.
	running.ended.catch(() => undefined);
	await running.until((out) => out.split("\n").length > lines);
	const [url = "", , dataset = ""] = running.out().split("\n");
	return { url, port: Number(new URL(url).port), key: KEY, dataset, child: running.child };
}
