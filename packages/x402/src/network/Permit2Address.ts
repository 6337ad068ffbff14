/** Permit2, at the same address on every chain that has it (https://docs.uniswap.org/contracts/permit2/overview). */
export const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"

/**
 * x402's proxy for scheme `exact` (x402ExactPermit2Proxy), for which clients sign: the canonical address of
 * specs/schemes/exact/scheme_exact_evm.md, which `@x402/evm` 2.27.0 exports as `x402ExactPermit2ProxyAddress`.
 */
export const PERMIT2_PROXY = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"
