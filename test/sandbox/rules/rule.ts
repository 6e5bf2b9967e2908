import { expect } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { items } from "../../support/values.ts";
import * as by from "../support.ts";

/** An answer: its code, a part of its message, some of its data, and the documents that exist afterwards. */
export type Answer = {
	readonly code: number;
	readonly status?: number;
	readonly message?: string;
	readonly data?: unknown;
	/** names in the order of their creation */
	readonly left?: readonly string[];
	/** what the first document has afterwards */
	readonly metadata?: unknown;
	/** the states of parsing in that order */
	readonly runs?: readonly string[];
	/** the whole body */
	readonly body?: string;
	/** a part of the body */
	readonly part?: string;
};

/** Answers by the release from which they hold, up to the next one named. A text is a code, and a part of its message. */
export type Answers = { readonly [from in `${number}`]?: Answer | string };

export type Rule = {
	readonly rule: string;
	/** METHOD PATH, and a JSON body; `$D` is the dataset, `$N` its name, `$0` to `$2` are its documents */
	readonly send: string;
	readonly query?: Readonly<Record<string, string>>;
	/** sent as JSON, with the same placeholders; text is sent as it is */
	readonly body?: unknown;
	/** names of files to upload; each contains its name */
	readonly files?: readonly string[];
	readonly type?: string;
	readonly key?: null;
	readonly answers: Answers;
};

type Sent = Pick<Rule, "query" | "body" | "files" | "type" | "key">;

/** One answer is that of every release. */
export function ruleOf(rule: string, send: string, answers: Answers | Answer | string, sent: Sent = {}): Rule {
	const isOne = typeof answers === "string" || "code" in answers;
	return { rule, send, ...sent, answers: isOne ? { "0.18": answers } : answers };
}

/** The start of every rule: a dataset of three documents, `0.txt` to `2.txt`, each of which contains its name. */
export type Scene = {
	readonly sandbox: by.Target;
	readonly dataset: string;
	readonly name: string;
	readonly ids: readonly string[];
};

export const files = ["0.txt", "1.txt", "2.txt"] as const;

export async function scene(sandbox: by.Target, name: string): Promise<Scene> {
	const dataset = await by.createDataset(sandbox, name);
	const answer = await send(sandbox, "POST", by.documentsPath(dataset), upload(files));
	return { sandbox, dataset, name, ids: files.map((_, at) => String(by.at(answer.data, at, "id"))) };
}

/** Sends the request of a rule, and compares the answer. */
export async function checkRule(rule: Rule, flavour: Flavour, at: Scene): Promise<void> {
	const expected = expectedOf(rule.answers, flavour);
	if (expected === undefined) return;
	const [method = "", path = "", ...words] = rule.send.split(" ");
	const search = new URLSearchParams(parsed(filled(JSON.stringify(rule.query ?? {}), at)));
	const url = `${filled(path, at)}${rule.query === undefined ? "" : `?${search.toString()}`}`;
	const answer = await send(at.sandbox, method, url, { ...bodyOf(rule, words.join(" "), at), ...keyOf(rule) });
	const { left, metadata, runs, body, part = "", message = "", data, ...plain } = expected;
	const rest = data === undefined ? plain : { ...plain, data: filledData(data, at) };
	if (body === undefined)
		expect({ rule: rule.rule, ...answer }).toMatchObject({ rule: rule.rule, status: 200, ...rest });
	else expect({ rule: rule.rule, text: answer.text }).toEqual({ rule: rule.rule, text: filled(body, at) });
	expect(`${rule.rule}: ${answer.text}`).toContain(JSON.stringify(filled(message, at)).slice(1, -1));
	expect(`${rule.rule}: ${answer.text}`).toContain(part);
	if (left === undefined && metadata === undefined && runs === undefined) return;
	const listed = await by.list(at.sandbox, at.dataset, { desc: "False", page_size: "100" });
	const documents = items(by.at(listed.data, "docs"));
	if (left !== undefined) {
		expect({ rule: rule.rule, left: documents.map((each) => by.at(each, "name")) }).toEqual({ rule: rule.rule, left });
	}
	if (runs !== undefined) {
		expect({ rule: rule.rule, runs: documents.map((each) => by.at(each, "run")) }).toEqual({ rule: rule.rule, runs });
	}
	if (metadata !== undefined) {
		expect({ rule: rule.rule, metadata: by.at(documents[0], "meta_fields") }).toEqual({ rule: rule.rule, metadata });
	}
}

function expectedOf(answers: Answers, flavour: Flavour): Answer | undefined {
	let found: Answer | undefined;
	for (const [from, answer] of Object.entries(answers))
		if (answer !== undefined && flavour >= `ragflow-${from}`) found = answerOf(answer);
	return found;
}

function answerOf(answer: Answer | string): Answer {
	if (typeof answer !== "string") return answer;
	const [code = ""] = answer.split(" ");
	return { code: Number(code), message: answer.slice(code.length + 1) };
}

async function send(sandbox: by.Target, method: string, path: string, sent: by.Sent): Promise<by.Answer> {
	const answer = await by.send(sandbox, method, path, sent);
	if (answer.status !== 308) return answer;
	// As public clients do: they send one slash in place of two.
	return by.send(sandbox, method, path.replaceAll(/\/{2,}/g, "/"), sent);
}

function bodyOf({ body, files: names, type = "application/json" }: Rule, words: string, at: Scene): by.Sent {
	if (names !== undefined) return upload(names);
	if (body === undefined && words === "") return {};
	const text = body === undefined ? words : JSON.stringify(body);
	return { headers: { "content-type": type }, body: typeof body === "string" ? body : filled(text, at) };
}

function upload(names: readonly string[]): by.Sent {
	return { headers: by.partsHeader, body: by.multipart(...names.map((name) => by.filePart(name, name))) };
}

function keyOf({ key }: Rule): by.Sent {
	return key === undefined ? {} : { key };
}

function filled(text: string, { dataset, name, ids }: Scene): string {
	return text
		.replaceAll("$D", dataset)
		.replaceAll("$N", name)
		.replaceAll(/\$(\d)/g, (_, at: string) => ids[Number(at)] ?? "");
}

function filledData(data: unknown, at: Scene): unknown {
	const filledOut: unknown = JSON.parse(filled(JSON.stringify(data), at));
	return filledOut;
}

function parsed(text: string): Record<string, string> {
	const value: unknown = JSON.parse(text);
	return Object.fromEntries(Object.entries(value ?? {}).map(([name, each]) => [name, String(each)]));
}
