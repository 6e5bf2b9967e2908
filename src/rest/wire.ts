/** The shapes of the API's JSON, as the documentation gives them. Types only: client and sandbox share no code. */
export type Envelope<Data> = {
	readonly code: number;
	readonly message?: string;
	readonly data?: Data;
};

export type WireDataset = { readonly id: string; readonly name: string; readonly document_count?: number };
