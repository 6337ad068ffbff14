const TOKEN = "agentos-operator-token"

/** The operator's token. It lives as long as the tab. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  /** @param {string} value */
  set: (value) => sessionStorage.setItem(TOKEN, value),
  forget: () => sessionStorage.removeItem(TOKEN)
}

/** An answer that is no success, in the words of the server. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/** @param {string} path @param {RequestInit} [init] */
const request = async (path, init = {}) => {
  const response = await fetch(`../${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${token.get() ?? ""}` }
  })
  if (response.ok) return response
  const { error } = await response.json().catch(() => ({}))
  throw new Refusal(response.status, error?.message ?? `The server answered ${response.status}.`)
}

/**
 * Reads a route below /internal.
 * @param {string} path
 * @param {Readonly<Record<string, string>>} [query] without the empty ones
 * @returns {Promise<any>}
 */
export const read = async (path, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== "")
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`
  return (await (await request(path + search)).json()).data
}

/**
 * Changes something. The reason goes to the audit.
 * @param {string} path
 * @param {Readonly<Record<string, unknown>>} body
 * @param {string} reason
 * @returns {Promise<any>}
 */
export const change = async (path, body, reason) => {
  const headers = {
    "content-type": "application/json",
    // A header is bytes.
    ...(reason === "" ? {} : { "x-operator-reason": String.fromCharCode(...new TextEncoder().encode(reason)) })
  }
  return (await (await request(path, { method: "POST", headers, body: JSON.stringify(body) })).json()).data
}

/** The metrics of the server as text. */
export const readMetrics = async () => (await request("metrics")).text()
