package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const ofProtobuf = "application/vnd.kubernetes.protobuf"

// As in kube-apiserver: lists are compressed from this size on, at the fastest level.
const compressedFrom = 128 << 10

// The API: pods, and no object of any other resource.
type api struct {
	cluster *cluster
}

// The kind of the lists of each resource.
var listKinds = func() map[schema.GroupVersionResource]schema.GroupVersionKind {
	kinds := map[schema.GroupVersionResource]schema.GroupVersionKind{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		list := kind.GroupVersion().WithKind(kind.Kind + "List")
		if scheme.Scheme.Recognizes(list) {
			kinds[resource] = list
		}
	}
	return kinds
}()

func (api *api) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/version" {
		write(response, "application/json", []byte(`{"major":"1","minor":"37","gitVersion":"v1.37.1"}`))
		return
	}
	resource, known := resourceOf(request.URL.Path)
	kind, listed := listKinds[resource]
	query := request.URL.Query()
	asked := strings.Split(request.Header.Get("Accept"), ",")[0]
	isProtobuf := strings.HasPrefix(strings.TrimSpace(asked), ofProtobuf)
	isPods := resource.Resource == "pods"
	switch {
	case !known || !listed:
		failure(response, http.StatusNotFound, metav1.StatusReasonNotFound)
	case query.Get("sendInitialEvents") == "true":
		failure(response, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		api.watch(response, request, isPods, isProtobuf)
	case isPods:
		api.listPods(response, request, isProtobuf)
	default:
		list, err := scheme.Scheme.New(kind)
		if err != nil {
			failure(response, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		_ = meta.NewAccessor().SetResourceVersion(list, "1000")
		list.GetObjectKind().SetGroupVersionKind(kind)
		answer(response, request, list, isProtobuf)
	}
}

// resourceOf is what a path is about, of all namespaces or of one.
func resourceOf(path string) (schema.GroupVersionResource, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) == 3 && parts[0] == "api":
		return schema.GroupVersionResource{Version: parts[1], Resource: parts[2]}, true
	case len(parts) == 4 && parts[0] == "apis":
		return schema.GroupVersionResource{Group: parts[1], Version: parts[2], Resource: parts[3]}, true
	}
	return schema.GroupVersionResource{}, false
}

// listPods answers with all pods, or with a page where a client asks for the newest version page by page: what may come
// from the cache comes whole, as in kube-apiserver.
func (api *api) listPods(response http.ResponseWriter, request *http.Request, isProtobuf bool) {
	query := request.URL.Query()
	pods, version := api.cluster.list()
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	list.ResourceVersion = version
	from, _ := strconv.Atoi(query.Get("continue"))
	until := len(pods)
	limit, err := strconv.Atoi(query.Get("limit"))
	if err == nil && limit > 0 && query.Get("resourceVersion") != "0" && from+limit < until {
		until = from + limit
		list.Continue = strconv.Itoa(until)
	}
	for _, pod := range pods[from:until] {
		list.Items = append(list.Items, *pod)
	}
	api.cluster.listBytes.Add(int64(answer(response, request, list, isProtobuf)))
}

// answer writes an object, and says how many bytes that took.
func answer(response http.ResponseWriter, request *http.Request, object runtime.Object, isProtobuf bool) int {
	contentType, body := "application/json", bytes.Buffer{}
	if isProtobuf {
		contentType = ofProtobuf
	}
	if err := encode(object, isProtobuf, &body); err != nil {
		failure(response, http.StatusInternalServerError, metav1.StatusReasonInternalError)
		return 0
	}
	if body.Len() >= compressedFrom && strings.Contains(request.Header.Get("Accept-Encoding"), "gzip") {
		var compressed bytes.Buffer
		writer, _ := gzip.NewWriterLevel(&compressed, gzip.BestSpeed)
		_, _ = writer.Write(body.Bytes())
		_ = writer.Close()
		response.Header().Set("Content-Encoding", "gzip")
		body = compressed
	}
	write(response, contentType, body.Bytes())
	return body.Len()
}

func encode(object runtime.Object, isProtobuf bool, into io.Writer) error {
	if isProtobuf {
		return protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, into)
	}
	return json.NewEncoder(into).Encode(object)
}

// watch sends the events of pods until the client has enough of them, one frame or line at a time.
func (api *api) watch(response http.ResponseWriter, request *http.Request, isPods, isProtobuf bool) {
	contentType := "application/json"
	if isProtobuf {
		contentType = ofProtobuf + ";stream=watch"
	}
	response.Header().Set("Content-Type", contentType)
	response.WriteHeader(http.StatusOK)
	flusher := response.(http.Flusher)
	flusher.Flush()
	seconds, err := strconv.Atoi(request.URL.Query().Get("timeoutSeconds"))
	if err != nil {
		seconds = 1800
	}
	end := time.After(time.Duration(seconds) * time.Second)
	var events chan event
	if isPods {
		open, close := api.cluster.watch()
		defer close()
		events = open
	}
	var body bytes.Buffer
	for {
		select {
		case <-request.Context().Done():
			return
		case <-end:
			return
		case event := <-events:
			body.Reset()
			if err := frame(event, isProtobuf, &body); err != nil {
				return
			}
			if _, err := response.Write(body.Bytes()); err != nil {
				return
			}
			// kube-apiserver flushes when no further event waits.
			if len(events) == 0 {
				flusher.Flush()
			}
			api.cluster.events.Add(1)
			api.cluster.eventBytes.Add(int64(body.Len()))
		}
	}
}

// frame is one event of a watch.
func frame(event event, isProtobuf bool, into *bytes.Buffer) error {
	var object bytes.Buffer
	if err := encode(event.pod, isProtobuf, &object); err != nil {
		return err
	}
	outer := metav1.WatchEvent{Type: string(event.kind), Object: runtime.RawExtension{Raw: object.Bytes()}}
	if !isProtobuf {
		return json.NewEncoder(into).Encode(outer)
	}
	framed := protobuf.LengthDelimitedFramer.NewFrameWriter(into)
	var message bytes.Buffer
	if err := protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme).Encode(&outer, &message); err != nil {
		return err
	}
	_, err := framed.Write(message.Bytes())
	return err
}

func failure(response http.ResponseWriter, code int, reason metav1.StatusReason) {
	body, _ := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason),
	})
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(code)
	_, _ = response.Write(body)
}

func write(response http.ResponseWriter, contentType string, body []byte) {
	response.Header().Set("Content-Type", contentType)
	response.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = response.Write(body)
}
