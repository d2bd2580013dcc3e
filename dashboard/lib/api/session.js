/** The signed-in person, and the way to sign in. */
import { ApiProblem, call } from "./call.js";

/** @typedef {import("../types").Session} Session */

/** @returns {Promise<Session | null>} null when nobody is signed in */
export async function whoIsHere() {
  try {
    return await call("GET", "/api/session", { asks401: false });
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return null;
    throw error;
  }
}

/** How people sign in here. @returns {Promise<import("../openapi").SignInMethod>} */
export function signInMethod() {
  return call("GET", "/api/session/method", { asks401: false });
}

/** @returns {Promise<import("../openapi").SignedOut | null>} where to sign out at the sign-in service, too */
export function signOut() {
  return call("DELETE", "/api/session", { asks401: false });
}
