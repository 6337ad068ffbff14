export const page = "/docs/pay"
