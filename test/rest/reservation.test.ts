import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Reservable, Reservation } from "../../src/rest/reservation.ts";
import { answer, apiFor, Cleanup, rawServer, type RawServer, rejection, success } from "./raw-server.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const fields = new Map([["author", "x"]]);
const ignore = (): void => undefined;

async function service(): Promise<RawServer> {
	return cleanup.add(
		await rawServer((socket, request) => socket.write(success(/documents\/(\w+)/.exec(request)?.[1] ?? ""))),
	);
}

async function reserved(api: Reservable): Promise<Reservation> {
	const reservation = await api.reserve(undefined);
	if (reservation === undefined) throw new Error("no connection was reserved");
	return reservation;
}

describe("a reserved connection", () => {
	test("is open before its request's time has come: requests that wait for connections would leave in one burst", async () => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl));
		const three = await Promise.all([1, 2, 3].map(() => reserved(api)));
		await expect.poll(() => server.connections()).toBe(3);
		expect(server.requests).toHaveLength(0);
		const order: string[] = [];
		const rows = three.map((one, row) => {
			one.used(() => order.push(`d${row}`));
			return api.updateMetadata("ds", `d${row}`, fields);
		});
		await Promise.all(rows);
		expect(order).toEqual(["d0", "d1", "d2"]);
		expect(server.connections()).toBe(3);
	});

	test("counts when its request is written, and each request takes its own: a second would get more than its share", async () => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl));
		const order: string[] = [];
		const rows = [1, 2, 3].map((row) => `d${row}`);
		const first = await Promise.all(rows.map(() => reserved(api)));
		for (const one of first) one.drop();
		const again = await Promise.all(rows.map(() => reserved(api)));
		for (const [at, one] of again.entries()) one.used(() => order.push(rows[at] ?? ""));
		expect(order).toEqual([]);
		await Promise.all(rows.map((id) => api.updateMetadata("ds", id, fields)));
		expect(order).toEqual(rows);
	});

	test("goes to the request that has waited longest, and to none that was stopped before it asked", async () => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		const mine = await reserved(api);
		const order: string[] = [];
		const waiting = ["first", "second"].map(async (name) => {
			const one = await reserved(api);
			order.push(name);
			one.drop();
		});
		expect(await rejection(Promise.resolve(api.reserve(AbortSignal.abort("stop"))))).toBe("stop");
		mine.drop();
		await Promise.all(waiting);
		expect(order).toEqual(["first", "second"]);
	});

	test("is the one that is being opened where its request was stopped: no service sees more than are needed", async () => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl));
		const stop = new AbortController();
		const stopped = rejection(Promise.resolve(api.reserve(stop.signal)));
		stop.abort("stop");
		(await reserved(api)).used(ignore);
		expect(await stopped).toBe("stop");
		await api.updateMetadata("ds", "d1", fields);
		expect(server.connections()).toBe(1);
	});

	test("that did not open for a stopped request is tried again for the next: the run would wait for ever", async () => {
		const gone = await rawServer(ignore);
		await gone.close();
		const api = cleanup.add(apiFor(gone.baseUrl, { connections: 1 }));
		const stop = new AbortController();
		const stopped = rejection(Promise.resolve(api.reserve(stop.signal)));
		stop.abort("stop");
		expect(await stopped).toBe("stop");
		// It is refused meanwhile.
		await sleep(50);
		expect((await reserved(api)).isGood()).toBe(true);
	});

	test("right after an answer that broke its connection is another one", async () => {
		const server = cleanup.add(
			await rawServer((socket, _, count) =>
				socket.write(count === 1 ? answer("x".repeat(1024 * 1024 + 1)) : success("d1")),
			),
		);
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		expect(await rejection(api.updateMetadata("ds", "d1", fields))).toMatchObject({ code: "ANSWER_TOO_LARGE" });
		(await reserved(api)).used(ignore);
		expect(await api.updateMetadata("ds", "d1", fields)).toBe("document_id");
	});

	test("is kept from other requests", async () => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl));
		const mine = await reserved(api);
		await api.updateMetadata("ds", "d1", fields);
		expect(server.connections()).toBe(2);
		mine.drop();
	});

	test.each<[string, (reservation: Reservation) => void]>([
		["was not needed", (reservation) => reservation.drop()],
		["no request took in its turn", (reservation) => reservation.used(ignore)],
	])("that %s serves the next one, so that no run ends up waiting for connections", async (_, end) => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		for (let time = 0; time < 5; time++) end(await reserved(api));
		const last = await reserved(api);
		last.used(ignore);
		await api.updateMetadata("ds", "d1", fields);
		expect(server.connections()).toBe(1);
	});

	test("that can't be opened gives its request the error, and the connections go on", async () => {
		const gone = await rawServer(ignore);
		await gone.close();
		const api = cleanup.add(apiFor(gone.baseUrl, { connections: 1 }));
		for (let time = 0; time < 12; time++) {
			const reservation = await reserved(api);
			expect(reservation.isGood()).toBe(true);
			reservation.used(ignore);
			const error = await rejection(api.updateMetadata("ds", "d1", fields));
			expect(error).toMatchObject({ kind: "not_sent", code: "CONNECTION_REFUSED" });
		}
	});

	test("that does not open fails its request within a short --timeout: ten seconds a row would stop a run for long", async () => {
		// It takes the connection, and never begins with TLS.
		const server = cleanup.add(await rawServer(ignore));
		const api = cleanup.add(apiFor(server.baseUrl.replace("http:", "https:"), { connections: 1, timeout: 50 }));
		const late = sleep(5_000, undefined, { ref: false }).then(() => "late");
		const reservation = await Promise.race([reserved(api), late]);
		if (typeof reservation === "string") throw new Error("the connection was waited for longer than the timeout");
		expect(reservation.isGood()).toBe(true);
		reservation.used(ignore);
		const error = await rejection(api.updateMetadata("ds", "d1", fields));
		expect(error).toMatchObject({ kind: "not_sent", code: "CONNECT_TIMEOUT" });
	});

	test("that the service has closed is not good any more", async () => {
		const server = cleanup.add(
			await rawServer((socket) => {
				socket.write(success("d1"));
				setTimeout(() => socket.end(), 20);
			}),
		);
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		await api.updateMetadata("ds", "d1", fields);
		const reservation = await reserved(api);
		await expect.poll(() => reservation.isGood()).toBe(false);
		reservation.drop();
		const another = await reserved(api);
		expect(another.isGood()).toBe(true);
		another.drop();
	});

	test("is waited for until the run stops, and no longer", async () => {
		const server = await service();
		const api = cleanup.add(apiFor(server.baseUrl, { connections: 1 }));
		const mine = await reserved(api);
		const stop = new AbortController();
		const waiting = Promise.resolve(api.reserve(stop.signal));
		stop.abort("stop");
		expect(await rejection(waiting)).toBe("stop");
		mine.drop();
		(await reserved(api)).drop();
		expect(server.connections()).toBe(1);
	});

	test("is refused to requests that wait when the client ends: nothing hangs", async () => {
		const server = await service();
		const api = apiFor(server.baseUrl, { connections: 1 });
		await reserved(api);
		const waiting = Promise.resolve(api.reserve(undefined));
		await api.close();
		expect(await waiting).toBeUndefined();
		expect(await api.reserve(undefined)).toBeUndefined();
	});
});
