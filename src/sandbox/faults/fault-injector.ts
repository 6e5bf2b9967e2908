import type { IncomingMessage, ServerResponse } from "node:http";
import { type Serving, sendReply } from "../answer.ts";
import { type Log, logLine } from "../log.ts";
import type { Met } from "./ledger/entries.ts";
import { Ledger, type Ticket } from "./ledger/index.ts";
import type { Change } from "../store/changes.ts";
import { askedOf } from "./request-info.ts";
import { Channel } from "./channel.ts";
import { type Draft, draftOf, written } from "./draft.ts";
import { Force, type Taken } from "./force.ts";
import type { Strike } from "./kind.ts";
import { watchedStore } from "./faulty-store.ts";

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly serving: Serving };

/** What goes wrong in a sandbox, and the record of it: one plan in force, one ledger, and the way of a request past both. */
export class FaultInjector {
	readonly force = new Force();
	readonly ledger = new Ledger();
	readonly #closing = new AbortController();
	/** connections that a fault holds */
	readonly #held = new Set<Channel>();
	/** the last answer to each method */
	readonly #previous = new Map<string, Draft>();
	readonly #log: Log | undefined;
	/** the moment from which the database can be reached again, by the clock of `performance` */
	#databaseBack = 0;
	/** set when there is a port to close */
	outage: (milliseconds: number) => void = () => undefined;

	constructor(log: Log | undefined) {
		this.#log = log;
	}

	/** Answers a request as the plan wants it. Never rejects. */
	async answer(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
		const asked = askedOf(request);
		const ticket = this.ledger.arrived(asked);
		const channel: unknown = request.socket;
		const previous = this.#previous.get(asked.method);
		const taken = channel instanceof Channel ? this.force.take(asked, previous) : undefined;
		const exchange = { request, response, serving };
		if (taken === undefined || !(channel instanceof Channel)) return this.#untroubled(exchange, ticket);
		const { live } = taken;
		const strike = { asked, channel, random: taken.random, previous, outage: this.outage };
		this.#held.add(channel);
		const status = await this.#troubled(exchange, ticket, taken, strike);
		this.#held.delete(channel);
		this.#answered(ticket, { name: live.planned.fault, index: live.index, when: live.when }, status);
		channel.mute(true);
		// Ahead of the HTTP server's own listener, which at once writes the answer to a request that has come meanwhile.
		response.prependOnceListener("finish", () => channel.mute(false));
		response.end();
		request.resume();
	}

	#answered(ticket: Ticket, fault: Met | null, status: number | null): void {
		this.ledger.answered(ticket, fault, status);
		const { arrived, asked } = ticket;
		this.#log?.(`${logLine(arrived, asked, status)}${fault === null ? "" : ` ${fault.name} ${fault.when}`}`);
	}

	/** Ends what faults hold open, and what they have put off. */
	close(): void {
		this.#closing.abort();
		for (const channel of this.#held) channel.destroy();
	}

	async #untroubled({ request, response, serving }: Exchange, ticket: Ticket): Promise<void> {
		const store = watchedStore(serving.service.store, { ...this.#watched(ticket), applies: true, late: 0 });
		const reply = await serving.voice.dialect(request, { ...serving.service, store, databaseAway: this.#databaseAway });
		this.#previous.set(ticket.asked.method, draftOf(reply, response.shouldKeepAlive));
		response.once("close", () => this.#answered(ticket, null, response.writableFinished ? reply.status : null));
		await sendReply(response, reply, serving.service.settings.latency);
		request.resume();
		await this.#watch(ticket, reply.text.toString(), serving);
	}

	async #troubled(
		{ request, response, serving }: Exchange,
		ticket: Ticket,
		{ live, fired }: Taken,
		strike: Strike,
	): Promise<number | null> {
		const { fault, when } = live;
		const { asked, channel } = strike;
		if (fault.instead !== undefined) {
			fired();
			return fault.instead(strike);
		}
		const applies = when === "after";
		if (fault.ask !== undefined) request.url = fault.ask(asked);
		const late = fault.late?.(strike) ?? 0;
		const { service, voice } = serving;
		const store = watchedStore(service.store, { ...this.#watched(ticket), applies, late, fault });
		const updated = applies ? service.updated : () => undefined;
		const troubled = { ...service, store, updated, databaseAway: this.#databaseAway };
		let reply = await voice.dialect(request, troubled);
		if (fault.away !== undefined) {
			this.#databaseBack = performance.now() + fault.away;
			reply = await voice.dialect(request, { ...troubled, databaseAway: true });
		}
		// What is left of a body that was not read would make an RST of every FIN.
		request.resume();
		const draft = draftOf(reply, response.shouldKeepAlive);
		this.#previous.set(asked.method, draft);
		const spoiled = fault.spoil === undefined ? draft : fault.spoil(draft, strike);
		if (spoiled !== undefined) fired();
		if (service.settings.latency > 0) await channel.wait(service.settings.latency);
		const answer = written(spoiled ?? draft);
		if (fault.send !== undefined) return fault.send(answer, strike);
		await channel.send(Buffer.concat([answer.head, answer.body]));
		if (answer.last) await channel.hangUp();
		await this.#watch(ticket, reply.text.toString(), serving);
		return answer.status;
	}

	get #databaseAway(): boolean {
		return performance.now() < this.#databaseBack;
	}

	#watched(ticket: Ticket): Pick<Parameters<typeof watchedStore>[1], "applied" | "closing" | "fault"> {
		return {
			closing: this.#closing.signal,
			fault: undefined,
			applied: (change) => this.ledger.applied(ticket, change),
		};
	}

	/** For faults that do something later: they see what clients have seen. */
	async #watch(ticket: Ticket, text: string, { service }: Serving): Promise<void> {
		const applied = (change: Change): void => this.ledger.applied(ticket, change, "lose");
		const store = watchedStore(service.store, { ...this.#watched(ticket), applies: true, late: 0, applied });
		for (const { fault } of this.force.watchers()) await fault.watch?.(ticket.asked, text, store);
	}
}
