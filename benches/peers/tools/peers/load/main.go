// Writes to a real API server: pods or nodes that stand, and status updates of them at a rate.
//
//	load --recording FILE --kubeconfig FILE --pods 2000
//	load --kubeconfig FILE --nodes 5000
//
// It prints the address of its controls when they stand: POST /rate?writes=N writes so often per second, 0 at first,
// and GET /written says how often it has.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"podinit.bench/tools/peers/recording"
)

const workers = 16

func main() {
	recorded := flag.String("recording", "", "watch events of pods, one JSON document per line")
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of the API server")
	count := flag.Int("pods", 1000, "pods that stand")
	nodes := flag.Int("nodes", 0, "nodes that stand, instead of pods")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = -1, -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	core := kubernetes.NewForConfigOrDie(config).CoreV1()
	var write func(turn int)
	if *nodes > 0 {
		write = standNodes(core.Nodes(), *nodes)
	} else {
		write = standPods(core.Pods("default"), *recorded, *count)
	}
	var rate, written atomic.Int64
	turns := make(chan int)
	for range workers {
		go func() {
			for turn := range turns {
				write(turn)
				written.Add(1)
			}
		}()
	}
	go func() {
		due := time.Now()
		for turn := 0; ; turn++ {
			for rate.Load() == 0 {
				time.Sleep(10 * time.Millisecond)
				due = time.Now()
			}
			due = due.Add(time.Second / time.Duration(rate.Load()))
			time.Sleep(time.Until(due))
			turns <- turn
		}
	}()
	controls := http.NewServeMux()
	controls.HandleFunc("POST /rate", func(_ http.ResponseWriter, request *http.Request) {
		asked, _ := strconv.Atoi(request.URL.Query().Get("writes"))
		rate.Store(int64(asked))
	})
	controls.HandleFunc("GET /written", func(response http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(response).Encode(map[string]int64{"written": written.Load()})
	})
	local, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(local.Addr())
	log.Fatal(http.Serve(local, controls))
}

// standPods creates the pods and returns what updates one of them.
func standPods(pods typed.PodInterface, recorded string, count int) func(turn int) {
	templates := readTemplates(recorded)
	standing := make([]*corev1.Pod, count)
	each(count, func(number int) {
		standing[number] = create(pods, templates[number%len(templates)], number)
	})
	return func(turn int) { update(pods, standing[turn%count], turn/count%2 == 0) }
}

// readTemplates reads the last versions of pods that run.
func readTemplates(path string) []*corev1.Pod {
	byUID := map[types.UID]int{}
	var templates []*corev1.Pod
	err := recording.Each(path, func(_ watch.EventType, pod *corev1.Pod) {
		_, isMirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
		if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil || isMirror {
			return
		}
		if index, known := byUID[pod.UID]; known {
			templates[index] = pod
		} else {
			byUID[pod.UID] = len(templates)
			templates = append(templates, pod)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	return templates
}

// each calls work for 0 to count - 1, some at the same time.
func each(count int, work func(int)) {
	numbers := make(chan int)
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for number := range numbers {
				work(number)
			}
		})
	}
	for number := range count {
		numbers <- number
	}
	close(numbers)
	done.Wait()
}

func create(pods typed.PodInterface, template *corev1.Pod, number int) *corev1.Pod {
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	pod.Name = fmt.Sprintf("%s-%d", template.Name, number)
	pod.Labels, pod.Annotations, pod.OwnerReferences = template.Labels, template.Annotations, template.OwnerReferences
	created, err := pods.Create(context.Background(), pod, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	created.Status = *template.Status.DeepCopy()
	update(pods, created, true)
	return created
}

// update writes the status, as a kubelet does when a probe says something new.
func update(pods typed.PodInterface, pod *corev1.Pod, ready bool) {
	next := pod.DeepCopy()
	next.ResourceVersion = ""
	for index := range next.Status.Conditions {
		condition := &next.Status.Conditions[index]
		if condition.Type != corev1.PodReady && condition.Type != corev1.ContainersReady {
			continue
		}
		condition.LastTransitionTime = metav1.Now()
		if condition.Status = corev1.ConditionFalse; ready {
			condition.Status = corev1.ConditionTrue
		}
	}
	if _, err := pods.UpdateStatus(context.Background(), next, metav1.UpdateOptions{}); err != nil {
		log.Print(err)
	}
}
