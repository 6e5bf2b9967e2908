/** A request that is refused with a reason. Thrown before anything was written. */
export class Refusal extends Error {
	override readonly name = "Refusal";
	/** HTTP status, and the envelope's code: the documentation names no codes of its own, so they are one number. */
	readonly code: number;
	/** headers that the status asks for (`allow`, `www-authenticate`) */
	readonly headers: Readonly<Record<string, string>>;

	constructor(code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
		super(message);
		this.code = code;
		this.headers = headers;
	}
}

/** The envelope of a success. `data` is JSON text, because metadata is kept as text to keep the order of its keys. */
export function successText(data: string): string {
	return `{"code":0,"message":"Success","data":${data}}`;
}

export function refusalText(refusal: Refusal): string {
	return JSON.stringify({ code: refusal.code, message: refusal.message });
}
