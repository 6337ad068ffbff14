import { createRequire, registerHooks } from "node:module"

/**
 * Loads mailauth without its BIMI check, which this service does not use. That check loads an HTTP client, an XML parser
 * and an ASN.1 library: 200 of 330 modules, and almost half of the time that a process needs to start. The bundle of
 * agentos-server replaces this module.
 */
const loadMailauth = (): typeof import("mailauth") => {
  const hooks = registerHooks({
    load: (url, context, next) =>
      /\/mailauth\/lib\/bimi\/[\w-]+\.js$/.test(url)
        ? { format: "commonjs", source: "", shortCircuit: true }
        : next(url, context)
  })
  try {
    return createRequire(import.meta.url)("mailauth")
  } finally {
    hooks.deregister()
  }
}

export const { authenticate } = loadMailauth()
