import { RestError } from "../../rest/errors.ts";
import type { StoredFile } from "../../rest/types.ts";
import type { Service } from "../service/service.ts";

/**
 * Whether the service keeps the folders of a name, as `hr/` of `hr/a.pdf`. RAGFlow in Python keeps them; v1.0 drops them, as
 * Go's `mime/multipart` does (`Part.FileName` is `filepath.Base`). Of other services it is not known. So the first such
 * file of a run goes alone, and the name in its answer shows it.
 */
export class FolderNames {
	readonly #service: Service;
	#isKept: boolean | undefined;
	#first: Promise<unknown> | undefined;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Stores a file whose name has folders.
	 *
	 * @throws RestError before anything is sent, where the service drops them
	 */
	async store(name: string, send: () => Promise<StoredFile>): Promise<StoredFile> {
		if (!name.includes("/")) return send();
		while (this.#isKept === undefined) {
			if (this.#first === undefined) return this.#storeFirst(send);
			await this.#first;
		}
		if (!this.#isKept) throw this.#refusal(name);
		return send();
	}

	async #storeFirst(send: () => Promise<StoredFile>): Promise<StoredFile> {
		const sending = send();
		this.#first = sending.then(
			(stored) => (this.#isKept = stored.name.includes("/")),
			() => undefined,
		);
		try {
			return await sending;
		} finally {
			await this.#first;
			this.#first = undefined;
		}
	}

	#refusal(name: string): RestError {
		const base = name.slice(name.lastIndexOf("/") + 1);
		const text = `the service would store ${this.#service.show(name)} as ${this.#service.show(base)}; nothing of this row was sent (--names flat stores it under a name with its folders)`;
		return new RestError(text, { kind: "rejected", code: "NO_FOLDERS" });
	}
}
