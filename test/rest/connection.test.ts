import process from "node:process";
import { buildConnector } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import { Connection } from "../../src/rest/connection.ts";
import { Cleanup, rawServer } from "./raw-server.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A connection whose first openings fail in the call itself, as with a certificate that can't be read. */
async function failing(times: number): Promise<Connection> {
	const server = cleanup.add(await rawServer(() => undefined));
	const open = buildConnector({});
	let left = times;
	const connect: buildConnector.connector = (options, callback) => {
		if (left === 0) return open(options, callback);
		left -= 1;
		throw new Error("it can't be opened");
	};
	const connection = new Connection(
		new URL(server.baseUrl).origin,
		{ connect },
		{ released: () => undefined, surplusAnswer: () => undefined },
	);
	cleanup.add({ close: () => connection.destroy() });
	return connection;
}

const opened = (connection: Connection): Promise<Error | undefined> =>
	new Promise((resolve) => connection.open(resolve));

describe("a connection that does not open", () => {
	test("is reported once, also when it opens later: otherwise one connection would carry two requests", async () => {
		const connection = await failing(1);
		const ends: (string | undefined)[] = [];
		connection.open((error) => ends.push(error?.message));
		expect(await opened(connection)).toBeUndefined();
		expect(ends).toEqual(["it can't be opened"]);
		expect(connection.isClosed).toBe(false);
	});

	test("leaves no listeners behind: an outage tries again for hours", async () => {
		const warnings: Error[] = [];
		const warned = (warning: Error): void => void warnings.push(warning);
		process.on("warning", warned);
		cleanup.add({ close: async () => void process.off("warning", warned) });
		const server = await rawServer(() => undefined);
		await server.close();
		const connection = new Connection(
			new URL(server.baseUrl).origin,
			{},
			{ released: () => undefined, surplusAnswer: () => undefined },
		);
		cleanup.add({ close: () => connection.destroy() });
		// Node warns of more than ten.
		for (let time = 0; time < 12; time++) expect(await opened(connection)).toMatchObject({ code: "ECONNREFUSED" });
		await new Promise((resolve) => setImmediate(resolve));
		expect(warnings).toEqual([]);
	});
});
