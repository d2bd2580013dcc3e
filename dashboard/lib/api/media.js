/** Uploaded media and their conversions. */
import { language } from "../language.js";
import { Unreachable, newTrace, refusalOf, traceparent, call, search } from "./call.js";

/** @typedef {import("../types").Media} Media */
/** @typedef {import("../types").Conversion} Conversion */

/**
 * The newest media, each with its newest conversion.
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<Media & {conversion: Conversion | null}>>}
 */
export function listMedia(cursor, abort) {
  return call("GET", `/api/event-media${search({ limit: 25, cursor })}`, { signal: abort });
}

/** @param {number} mediaId @param {string} filename @returns {Promise<Media>} */
export function renameMedia(mediaId, filename) {
  return call("PATCH", `/api/event-media/${mediaId}`, { body: { filename } });
}

/** @param {number} mediaId */
export function deleteMedia(mediaId) {
  return call("DELETE", `/api/event-media/${mediaId}`);
}

/** @param {number} mediaId @returns {Promise<Conversion>} */
export function reconvert(mediaId) {
  return call("POST", `/api/conversions/${mediaId}/reconvert`);
}

/**
 * The address of the first page's picture. It has the conversion's id, so that browsers fetch a new picture.
 * @param {number} mediaId @param {number} conversionId
 */
export function thumbnailUrl(mediaId, conversionId) {
  return `/api/event-media/${mediaId}/thumbnail#${conversionId}`;
}

/** @param {number} mediaId @returns {Promise<Conversion>} */
export function ensurePdf(mediaId) {
  return call("POST", `/api/conversions/${mediaId}/pdf`);
}

/** @param {number} mediaId */
export function mediaContentUrl(mediaId) {
  return `/api/event-media/${mediaId}/content`;
}

/**
 * Upload one file. XMLHttpRequest, because fetch does not report the progress of a body.
 * @param {File} file @param {(sent: number) => void} onProgress share of the bytes, 0 to 1
 * @returns {{done: Promise<{media: Media, conversion: Conversion | null}>, cancel: () => void}}
 */
export function upload(file, onProgress) {
  const request = new XMLHttpRequest();
  const trace = newTrace();
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(refusalOf(request.status, request.responseText, request.getResponseHeader("Retry-After"), trace));
    };
    request.onerror = () => reject(new Unreachable("no answer"));
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    const body = new FormData();
    body.append("file", file);
    request.open("POST", "/api/event-media");
    request.setRequestHeader("X-Requested-With", "signage");
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Accept-Language", language);
    request.setRequestHeader("traceparent", traceparent(trace));
    request.send(body);
  });
  return { done, cancel: () => request.abort() };
}
