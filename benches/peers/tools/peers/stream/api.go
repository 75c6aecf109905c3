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
	"k8s.io/apimachinery/pkg/watch"
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
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		api.watch(response, request, kind, isPods, isProtobuf)
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
	if body.Len() >= compressedFrom && takesGzip(request) {
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

func takesGzip(request *http.Request) bool {
	return strings.Contains(request.Header.Get("Accept-Encoding"), "gzip")
}

func encode(object runtime.Object, isProtobuf bool, into io.Writer) error {
	if isProtobuf {
		return protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, into)
	}
	return json.NewEncoder(into).Encode(object)
}

// watch sends the events of pods until the client has enough of them, one frame or line at a time. A client that asks
// for it first gets what stands, and a bookmark at the end of that.
func (api *api) watch(response http.ResponseWriter, request *http.Request, list schema.GroupVersionKind, isPods, isProtobuf bool) {
	contentType := "application/json"
	if isProtobuf {
		contentType = ofProtobuf + ";stream=watch"
	}
	initial := request.URL.Query().Get("sendInitialEvents") == "true"
	stream := &watchStream{response: response, flusher: response.(http.Flusher)}
	response.Header().Set("Content-Type", contentType)
	if initial && takesGzip(request) {
		response.Header().Set("Content-Encoding", "gzip")
		stream.gzip, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	response.WriteHeader(http.StatusOK)
	stream.flusher.Flush()
	seconds, err := strconv.Atoi(request.URL.Query().Get("timeoutSeconds"))
	if err != nil {
		seconds = 1800
	}
	end := time.After(time.Duration(seconds) * time.Second)
	var events chan event
	var standing []*corev1.Pod
	version := "1000"
	if isPods {
		var close func()
		events, standing, version, close = api.cluster.watch(initial)
		defer close()
	}
	if initial {
		if err := sendInitial(stream, standing, version, list, isProtobuf); err != nil {
			return
		}
		if isPods {
			api.cluster.listBytes.Add(stream.sent)
		}
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
			before := stream.sent
			if _, err := stream.Write(body.Bytes()); err != nil {
				return
			}
			// kube-apiserver flushes when no further event waits.
			if len(events) == 0 && stream.flush() != nil {
				return
			}
			api.cluster.events.Add(1)
			api.cluster.eventBytes.Add(stream.sent - before)
		}
	}
}

// What a watch writes, and how many bytes that took. kube-apiserver compresses a watch that began with what stands
// (WatchListCompression, on by default since 1.37): each flush ends one gzip member.
type watchStream struct {
	response http.ResponseWriter
	flusher  http.Flusher
	gzip     *gzip.Writer
	open     bool
	sent     int64
}

func (stream *watchStream) Write(bytes []byte) (int, error) {
	if stream.gzip == nil {
		return stream.count(bytes)
	}
	if !stream.open {
		stream.gzip.Reset(counter{stream})
		stream.open = true
	}
	return stream.gzip.Write(bytes)
}

// flush also ends the member: the client must not wait for the bytes of the next one.
func (stream *watchStream) flush() error {
	if stream.open {
		stream.open = false
		if err := stream.gzip.Flush(); err != nil {
			return err
		}
		if err := stream.gzip.Close(); err != nil {
			return err
		}
	}
	stream.flusher.Flush()
	return nil
}

func (stream *watchStream) count(bytes []byte) (int, error) {
	stream.sent += int64(len(bytes))
	return stream.response.Write(bytes)
}

type counter struct{ stream *watchStream }

func (counter counter) Write(bytes []byte) (int, error) { return counter.stream.count(bytes) }

// sendInitial writes what stands and the bookmark after it.
func sendInitial(
	stream *watchStream, standing []*corev1.Pod, version string, list schema.GroupVersionKind, isProtobuf bool,
) error {
	kind := list.GroupVersion().WithKind(strings.TrimSuffix(list.Kind, "List"))
	bookmark, err := scheme.Scheme.New(kind)
	if err != nil {
		return err
	}
	bookmark.GetObjectKind().SetGroupVersionKind(kind)
	_ = meta.NewAccessor().SetResourceVersion(bookmark, version)
	_ = meta.NewAccessor().SetAnnotations(bookmark, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	var body bytes.Buffer
	send := func(event event) error {
		body.Reset()
		if err := frame(event, isProtobuf, &body); err != nil {
			return err
		}
		_, err := stream.Write(body.Bytes())
		return err
	}
	for _, pod := range standing {
		if err := send(event{watch.Added, pod}); err != nil {
			return err
		}
	}
	if err := send(event{watch.Bookmark, bookmark}); err != nil {
		return err
	}
	return stream.flush()
}

// frame is one event of a watch.
func frame(event event, isProtobuf bool, into *bytes.Buffer) error {
	var object bytes.Buffer
	if err := encode(event.object, isProtobuf, &object); err != nil {
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
