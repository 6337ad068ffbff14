/** Reads a response of fetch. */
export const read = async (response) => ({
  status: response.status,
  text: await response.text(),
  receipt: response.headers.get("payment-response")
})

/** The request of a task, as fetch takes it. */
export const requestOf = ({ body, headers }) => ({ method: "POST", headers, body })
