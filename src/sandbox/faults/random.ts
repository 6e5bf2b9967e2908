/** Far apart, so that faults beside each other in a plan draw from streams that have nothing in common: 2^32 / phi. */
const stride = 0x9e_37_79_b9;

/** The same for the firings of one fault; any odd number that is not the other one does. */
const firingStride = 0x85_eb_ca_6b;

/**
 * Numbers from 0 up to 1, the same ones for the same seed: the generator mulberry32, 32 bits of state.
 *
 * Each fault of a plan has a stream of its own, so adding one leaves the others as they were.
 */
export function randomOf(seed: number, stream: number): () => number {
	let state = (seed + Math.imul(stream + 1, stride)) | 0;
	return () => {
		state = (state + 0x6d_2b_79_f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/**
 * What the n-th firing of a fault draws from. A stream for each, because firings overlap: otherwise which of them draws
 * first would depend on how long an answer takes.
 */
export function randomOfFiring(seed: number, stream: number, firing: number): () => number {
	return randomOf((seed + Math.imul(firing, firingStride)) | 0, stream);
}
