import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Backend, type Log, logLine, type Reply, sendReply, type Service } from "../answer.ts";
import type { Change } from "../store/writes.ts";
import { ActivePlan, type Firing } from "./active-plan.ts";
import { Channel } from "./channel.ts";
import { type Draft, draftOf, encode } from "./draft.ts";
import { type FaultContext, requestInfo } from "./fault.ts";
import { faultyStore, type WriteFaults } from "./faulty-store.ts";
import { type FiredFault, Ledger, type TrackedRequest } from "./ledger.ts";

type Exchange = {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly backend: Backend;
	readonly tracked: TrackedRequest;
};

/** Answers requests with the faults of one plan, and records them in one ledger. */
export class FaultInjector {
	readonly plan = new ActivePlan();
	readonly ledger = new Ledger();
	readonly #closing = new AbortController();
	/** connections that a fault keeps open */
	readonly #held = new Set<Channel>();
	/** the last answer to each method */
	readonly #previous = new Map<string, Draft>();
	readonly #log: Log | undefined;
	/** when the database can be reached again, in milliseconds of `performance.now` */
	#databaseUpAt = 0;
	/** the same for the searches of metadata */
	#searchesWorkAt = 0;
	/** whether updates fail until then, too */
	#refusesUpdates = false;
	/** resolves when no change holds the server */
	#idle: Promise<unknown> = Promise.resolve();
	/** set when a port is open */
	outage: (milliseconds: number) => void = () => undefined;

	constructor(log: Log | undefined) {
		this.#log = log;
	}

	/** Answers a request as the plan wants. Never rejects. */
	async answer(request: IncomingMessage, response: ServerResponse, backend: Backend): Promise<void> {
		const info = requestInfo(request);
		const tracked = this.ledger.arrived(info);
		const exchange = { request, response, backend, tracked };
		const channel: unknown = request.socket;
		const previous = this.#previous.get(info.method);
		const firing = channel instanceof Channel ? this.plan.firingFor(info, previous) : undefined;
		if (firing === undefined || !(channel instanceof Channel)) return this.#answerWithoutFault(exchange);
		const context = { request: info, channel, random: firing.random, previous, outage: this.outage };
		this.#held.add(channel);
		const status = await this.#answerWithFault(exchange, firing, context);
		this.#held.delete(channel);
		const { planned, index, when } = firing.active;
		this.#record(tracked, { name: planned.fault, index, when }, status);
		channel.mute(true);
		// Before the HTTP server's own listener, which writes the answer to the next request at once.
		response.prependOnceListener("finish", () => channel.mute(false));
		response.end();
		request.resume();
	}

	/** Clears plan, ledger and counts. */
	reset(): void {
		this.plan.set({ faults: [] });
		this.#searchesWorkAt = 0;
		this.ledger.clear();
	}

	/** Closes the connections that faults keep open, and drops delayed writes. */
	close(): void {
		this.#closing.abort();
		for (const channel of this.#held) channel.destroy();
	}

	async #answerWithoutFault({ request, response, backend, tracked }: Exchange): Promise<void> {
		const { service, flavour } = backend;
		const store = faultyStore(service.store, this.#withoutFaults(tracked));
		await this.#idle;
		const reply = await flavour.dialect(request, { ...service, store, ...this.#failing });
		this.#previous.set(tracked.request.method, draftOf(reply, response.shouldKeepAlive));
		response.once("close", () => this.#record(tracked, null, response.writableFinished ? reply.status : null));
		await sendReply(response, reply, service.settings.latency);
		request.resume();
		await this.#notifyObservers(tracked, reply.body.toString(), backend);
	}

	/** Returns the status that was sent, or null. */
	async #answerWithFault(
		{ request, response, backend, tracked }: Exchange,
		{ active, fired }: Firing,
		context: FaultContext,
	): Promise<number | null> {
		const { fault, when } = active;
		if (fault.insteadOfService !== undefined) {
			fired();
			return fault.insteadOfService(context);
		}
		if (fault.rewriteUrl !== undefined) request.url = fault.rewriteUrl(context.request);
		const { service, flavour } = backend;
		const applies = when === "after";
		const delay = fault.writeDelay?.(context) ?? 0;
		const changes: Change[] = [];
		const onApplied: WriteFaults["onApplied"] = (change) => {
			changes.push(change);
			this.ledger.applied(tracked, change);
		};
		const store = faultyStore(service.store, { ...this.#withoutFaults(tracked), applies, delay, fault, onApplied });
		const onUpdate = applies ? service.onUpdate : () => undefined;
		if (fault.searchesFailFor !== undefined) {
			this.#searchesWorkAt = performance.now() + fault.searchesFailFor;
			this.#refusesUpdates = fault.refusesUpdates === true;
		}
		const faulty = { ...service, store, onUpdate, ...this.#failing };
		const serve = async (): Promise<Reply> => {
			const served = await flavour.dialect(request, faulty);
			const held = fault.holdsFor?.(changes) ?? 0;
			if (held > 0) await sleep(held, undefined, { signal: this.#closing.signal }).catch(() => undefined);
			return served;
		};
		const turn = this.#idle.then(serve);
		if (fault.holdsFor !== undefined) this.#idle = turn.catch(() => undefined);
		let reply = await turn;
		if (fault.databaseDownFor !== undefined) {
			this.#databaseUpAt = performance.now() + fault.databaseDownFor;
			reply = await flavour.dialect(request, { ...faulty, databaseDown: true });
		}
		// Unread bytes of the body would turn every FIN into an RST.
		request.resume();
		const draft = draftOf(reply, response.shouldKeepAlive);
		this.#previous.set(context.request.method, draft);
		const altered = fault.alterAnswer === undefined ? draft : fault.alterAnswer(draft, context);
		if (altered !== undefined) fired();
		if (service.settings.latency > 0) await context.channel.wait(service.settings.latency);
		const answer = encode(altered ?? draft);
		if (fault.send !== undefined) return fault.send(answer, context);
		await context.channel.send(Buffer.concat([answer.head, answer.body]));
		if (answer.last) await context.channel.closeWithFin();
		await this.#notifyObservers(tracked, reply.body.toString(), backend);
		return answer.status;
	}

	/** The parts of the service that an earlier fault has taken away for a time. */
	get #failing(): Pick<Service, "databaseDown" | "searchesFail" | "updatesFail"> {
		const now = performance.now();
		const searchesFail = now < this.#searchesWorkAt;
		return { databaseDown: now < this.#databaseUpAt, searchesFail, updatesFail: searchesFail && this.#refusesUpdates };
	}

	#withoutFaults(tracked: TrackedRequest): WriteFaults {
		return {
			applies: true,
			fault: undefined,
			delay: 0,
			closing: this.#closing.signal,
			onApplied: (change) => this.ledger.applied(tracked, change),
		};
	}

	/** Lets faults act on the answers that clients have received. */
	async #notifyObservers(tracked: TrackedRequest, body: string, { service }: Backend): Promise<void> {
		const onApplied: WriteFaults["onApplied"] = (change) => this.ledger.lost(tracked, change);
		const store = faultyStore(service.store, { ...this.#withoutFaults(tracked), onApplied });
		for (const { fault } of this.plan.answerObservers()) await fault.onAnswer?.(tracked.request, body, store);
	}

	#record(tracked: TrackedRequest, fault: FiredFault | null, status: number | null): void {
		this.ledger.answered(tracked, fault, status);
		const line = logLine(tracked.arrived, tracked.request, status);
		this.#log?.(fault === null ? line : `${line} ${fault.name} ${fault.when}`);
	}
}
