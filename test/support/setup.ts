// nock's interceptors call Promise.withResolvers, which Node 20 does not have.
type Resolvers = { promise: Promise<unknown>; resolve: (value: unknown) => void; reject: (reason: unknown) => void };

if (!("withResolvers" in Promise)) {
	Object.defineProperty(Promise, "withResolvers", {
		configurable: true,
		writable: true,
		value(): Resolvers {
			let resolve: Resolvers["resolve"] = () => undefined;
			let reject: Resolvers["reject"] = () => undefined;
			const promise = new Promise<unknown>((yes, no) => {
				resolve = yes;
				reject = no;
			});
			return { promise, resolve, reject };
		},
	});
}
