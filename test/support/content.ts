import { expect } from "vitest";
import { KEY, type Service } from "./service.ts";
import { at, parse } from "./values.ts";

/** The bytes of a document as text, as the service gives them to anyone with the key. */
export async function contentOf({ url, dataset }: Pick<Service, "url" | "dataset">, id: string): Promise<string> {
	const response = await fetch(`${url}/api/v1/datasets/${dataset}/documents/${id}?asked-by=the-test`, {
		headers: { authorization: `Bearer ${KEY}`, connection: "close" },
	});
	expect(response.headers.get("content-disposition")).toMatch(/^attachment/);
	return response.text();
}

/** Every document with its name, its metadata and its content, in the order of the names. */
export async function held(service: Service): Promise<{ name: string; metadata: unknown; content: string }[]> {
	const documents = (await service.documents()).toSorted((one, other) => (one.name < other.name ? -1 : 1));
	const found: { name: string; metadata: unknown; content: string }[] = [];
	for (const { id, name, metadata } of documents) {
		found.push({ name, metadata, content: await contentOf(service, id) });
	}
	return found;
}

/** Changes members of a document as the web page does. */
export async function change(
	{ url, dataset }: Pick<Service, "url" | "dataset">,
	method: "PUT" | "PATCH",
	id: string,
	members: object,
): Promise<void> {
	const response = await fetch(`${url}/api/v1/datasets/${dataset}/documents/${id}?asked-by=the-test`, {
		method,
		headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", connection: "close" },
		body: JSON.stringify(members),
	});
	expect(at(parse(await response.text()), "code")).toBe(0);
}
